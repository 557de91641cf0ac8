import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPrometheus } from "@sluice/testkit/prometheus.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";
import { z } from "zod";

import type { AlertCase } from "./alert-cases/alert-case.ts";
import { dispatcherCases } from "./alert-cases/dispatcher.ts";
import { edgeCases } from "./alert-cases/edge.ts";
import { eventLogCases } from "./alert-cases/event-log.ts";
import { ingesterCases } from "./alert-cases/ingester.ts";
import { kubernetesCases } from "./alert-cases/kubernetes.ts";
import { redirectCases } from "./alert-cases/redirect.ts";
import { servicesCases } from "./alert-cases/services.ts";
import { knownMetrics } from "./known-metrics.ts";
import { queryProblems } from "./query-problems.ts";

const infra = fileURLToPath(new URL("..", import.meta.url));
const rulesDir = join(infra, "prometheus/rules");
/** By the file in which the rule stands. */
const cases = Object.entries({
  redirect: redirectCases,
  edge: edgeCases,
  "event-log": eventLogCases,
  ingester: ingesterCases,
  dispatcher: dispatcherCases,
  kubernetes: kubernetesCases,
  services: servicesCases,
});

const Rules = z.object({
  data: z.object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            type: z.enum(["alerting", "recording"]),
            name: z.string(),
            query: z.string(),
            labels: z.record(z.string(), z.string()).default({}),
            annotations: z.record(z.string(), z.string()).default({}),
          }),
        ),
      }),
    ),
  }),
});

async function openRules() {
  const server = await testPrometheus(`rule_files: ["${rulesDir}/*.yml"]`);
  const answer = await fetch(`${server.url}/api/v1/rules`);
  const { data } = Rules.parse(await answer.json());
  const all = data.groups.flatMap((group) => group.rules);
  return {
    all,
    alerts: all.filter(({ type }) => type === "alerting"),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function promtool(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)("promtool", args).catch((error: unknown) => {
    throw error instanceof Error && "stderr" in error ? new Error(String(error.stderr)) : error;
  });
  return stdout + stderr;
}

/** A case as promtool reads it. */
function unitTest(
  { alert, series, quietAt, firesAt, labels }: AlertCase,
  rule: { labels: object; annotations: object },
) {
  const expected = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: rule.annotations };
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      { alertname: alert, eval_time: quietAt, exp_alerts: [] },
      { alertname: alert, eval_time: firesAt, exp_alerts: [expected] },
    ],
  };
}

describeWith("the rules of Prometheus", openRules, (opened) => {
  test("promtool finds nothing wrong with the configuration and its rules", async () => {
    expect(await promtool("check", "config", join(infra, "prometheus/prometheus.yml"))).toContain("SUCCESS");
  });

  test("promtool finds nothing wrong with the configuration for Kubernetes, but for how pods are found", async () => {
    await using dir = await tempDir();
    const file = join(dir.path, "prometheus.yml");
    const text = readFileSync(join(infra, "kubernetes/prometheus.yml"), "utf8");
    // Debian builds Prometheus without it.
    const found = /kubernetes_sd_configs:[^]*?(?=    relabel_configs)/;
    expect(text).toMatch(found);
    await writeFile(file, text.replace(found, 'static_configs: [{ targets: ["localhost:1"] }]\n'));
    expect(await promtool("check", "config", file)).toContain("SUCCESS");
  });

  test("every alert fires when it has to, with its labels, and not a minute before", async () => {
    await using dir = await tempDir();
    const ruleOf = (name: string) => opened().alerts.find((alert) => alert.name === name);
    const written = cases.map(async ([name, ofFile]) => {
      const tests = ofFile.map((each) =>
        unitTest(each, ruleOf(each.alert) ?? { labels: {}, annotations: {} }),
      );
      const file = join(dir.path, `${name}.yml`);
      const rule_files = [join(rulesDir, `${name}.yml`)];
      await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: "1m", tests }));
      return file;
    });
    expect(await promtool("test", "rules", ...(await Promise.all(written)))).toContain("SUCCESS");
    expect(new Set(cases.flatMap(([, ofFile]) => ofFile.map(({ alert }) => alert)))).toEqual(
      new Set(opened().alerts.map(({ name }) => name)),
    );
  });

  test("every series, label and value that a rule names is some app's", async () => {
    const known = await knownMetrics();
    const recorded = new Set(opened().all.flatMap(({ type, name }) => (type === "recording" ? [name] : [])));
    const problems = opened().all.flatMap(({ name, query }) =>
      queryProblems(query, known, recorded).map((problem) => `${name}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  test("every alert wakes somebody or waits for them, and leads to its section of the operator's page", () => {
    const page = readFileSync(join(infra, "../docs/operations.md"), "utf8");
    const [, chapter = ""] = /^## Alarms$([^]*?)(?=^## |(?![^]))/m.exec(page) ?? [];
    const sections = [...chapter.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    const alerts = opened().alerts;
    expect(new Set(sections)).toEqual(new Set(alerts.map(({ name }) => name)));
    expect(sections).toHaveLength(alerts.length);
    for (const { name, labels, annotations } of alerts) {
      expect(labels["severity"]).toMatch(/^(page|ticket)$/);
      expect(annotations["summary"]).toBeTruthy();
      expect(annotations["runbook"]).toBe(`docs/operations.md#${name.toLowerCase()}`);
    }
  });
});
