import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { z } from "zod";

import { apiProblems } from "./api-problems.ts";
import {
  type Manifest,
  ofKind,
  parseManifests,
  render,
  selects,
  type Workload,
  workloadsOf,
} from "./manifest.ts";
import { appOf, settingsOf } from "./settings.ts";
import { kubernetesTools } from "./tools.ts";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, "infra/kubernetes");
/** The oldest that the manifests are for, and the newest there is. */
const versions = ["1.31", "1.37"];

/** Every folder that can be applied, by its name. */
async function openRendered() {
  const tools = await kubernetesTools();
  const dirs = globSync("**/kustomization.yaml", { cwd: folder })
    .filter((path) => !readFileSync(join(folder, path), "utf8").includes("kind: Component"))
    .map(dirname)
    .toSorted();
  const all = await Promise.all(
    dirs.map(async (dir) => {
      const objects = await render(tools.kubectl, join(folder, dir));
      return { dir, objects, manifests: parseManifests(objects) };
    }),
  );
  return { tools, all, [Symbol.asyncDispose]: () => tools[Symbol.asyncDispose]() };
}

const containerOf = ({ spec }: Workload) => spec.template.spec.containers[0];
/** The command line answers nobody. */
const isForPeople = (workload: Workload) => appOf(containerOf(workload)).app === "cli";
const labelOf = (manifest: Manifest) => `${manifest.kind} ${manifest.metadata.name}`;

/** The port of what a setting names, where it is not the internet. */
const portOf: Readonly<Record<string, number>> = {
  DATABASE_URL: 5432,
  REDIS_URL: 6379,
  EVENT_LOG_URL: 9092,
  CLICK_STORE_URL: 8123,
};

describeWith("the manifests for Kubernetes", openRendered, (opened) => {
  /** What each workload of each folder is, with what is said to be wrong with it. */
  const problemsOf = async (
    look: (workload: Workload, manifests: readonly Manifest[]) => string[] | Promise<string[]>,
  ) => {
    const problems: string[] = [];
    for (const { dir, manifests } of opened().all)
      for (const workload of workloadsOf(manifests))
        problems.push(
          ...(await look(workload, manifests)).map((each) => `${dir}: ${labelOf(workload)}: ${each}`),
        );
    return problems;
  };

  test.for(versions)("the API of version %s takes all of them", async (version) => {
    const objects = opened().all.flatMap((each) => each.objects);
    expect(await apiProblems(opened().tools.schemaDir(version), objects)).toEqual([]);
    expect(new Set(opened().all.flatMap(({ manifests }) => manifests.map(({ kind }) => kind))).size).toBe(8);
  });

  test("a field that is misspelt, and a value of the wrong type, are told", async () => {
    const object = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "edge" } };
    const wrong = { ...object, spec: { maxUnavailabel: 1, selector: "edge" } };
    const problems = await apiProblems(opened().tools.schemaDir("1.37"), [wrong]);
    expect(problems.join("\n")).toContain("maxUnavailabel");
    expect(problems.join("\n")).toContain("/spec/selector must be object");
  });

  test("every variable is a setting of the app that gets it, and the app starts with them", async () => {
    const problems = await problemsOf(async (workload, manifests) => {
      const { unknown } = await settingsOf(containerOf(workload), manifests);
      return unknown.map((name) => `no setting ${name}`);
    });
    expect(problems).toEqual([]);
  });

  test("ports are those that the app listens on, and probes ask for what it answers", async () => {
    const source = readFileSync(join(root, "packages/service/src/ops-server.ts"), "utf8");
    const scraped = readFileSync(join(root, "infra/prometheus/prometheus.yml"), "utf8");
    const problems = await problemsOf(async (workload, manifests) => {
      const container = containerOf(workload);
      const { settings } = await settingsOf(container, manifests);
      if (isForPeople(workload)) return container.ports.length > 0 ? ["nobody asks it anything"] : [];
      const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
      const { readinessProbe, livenessProbe } = container;
      const { annotations, labels } = workload.spec.template.metadata;
      const wrong = [
        ports.get("ops") !== settings["OPS_PORT"] && "another operations port",
        ports.get("visitors") !== settings["PORT"] && "another port for visitors",
        annotations["prometheus.io/port"] !== String(settings["OPS_PORT"]) && "another port is scraped",
        // By this label Prometheus makes its jobs.
        !scraped.includes(`job_name: ${labels["app.kubernetes.io/component"]}\n`) && "no job that rules know",
        settings["OPS_HOST"] !== "0.0.0.0" && "the operations port is not reached",
        readinessProbe?.httpGet.path !== "/readyz" && "not asked whether it is ready",
        livenessProbe?.httpGet.path !== "/livez" && "not asked whether it lives",
      ].filter((each) => each !== false);
      for (const { httpGet } of [readinessProbe, livenessProbe].filter((each) => each !== undefined)) {
        if (httpGet.port !== "ops") wrong.push(`${httpGet.path} is not at ${httpGet.port}`);
        if (!source.includes(`path === "${httpGet.path}"`)) wrong.push(`no app answers ${httpGet.path}`);
      }
      return wrong;
    });
    expect(problems).toEqual([]);
  });

  test("the operations port is open to the monitoring namespace alone, and what an app needs is open to it", async () => {
    const monitoring = [
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
    ];
    const problems = await problemsOf(async (workload, manifests) => {
      const { settings } = await settingsOf(containerOf(workload), manifests);
      const policies = ofKind(manifests, "NetworkPolicy").filter(
        ({ spec }) =>
          Object.keys(spec.podSelector.matchLabels).length > 0 &&
          selects(spec.podSelector.matchLabels, workload),
      );
      const ingress = policies.flatMap(({ spec }) => spec.ingress);
      const egress = policies.flatMap(({ spec }) => spec.egress);
      const wrong: string[] = [];
      for (const { from, ports } of ingress) {
        const names = ports.map(({ port }) => port);
        for (const name of names)
          if (!containerOf(workload).ports.some((each) => each.name === name)) wrong.push(`no port ${name}`);
        if (names.includes("ops") && JSON.stringify(from) !== JSON.stringify(monitoring))
          wrong.push("ops is open to others");
      }
      const open = new Set(
        egress.filter(({ to }) => to === undefined).flatMap(({ ports }) => ports.map(({ port }) => port)),
      );
      for (const { name } of containerOf(workload).env) {
        const port = portOf[name];
        if (port !== undefined && !open.has(port)) wrong.push(`${name}: no way out to ${port}`);
      }
      const internet = new Set(
        egress.filter(({ to }) => to !== undefined).flatMap(({ ports }) => ports.map(({ port }) => port)),
      );
      const allowed = settings["ALLOWED_PORTS"];
      if (allowed !== undefined && JSON.stringify(allowed) !== JSON.stringify([...internet]))
        wrong.push("ALLOWED_PORTS are others");
      if (allowed === undefined && internet.size > 0) wrong.push("the internet is open to it");
      return wrong;
    });
    expect(problems).toEqual([]);
    // Where pods run, nothing goes in or out that is not said.
    for (const { dir, manifests } of opened().all.filter(
      (each) => !["ship", "cli"].includes(each.dir) && !each.dir.startsWith("base/"),
    )) {
      const all = ofKind(manifests, "NetworkPolicy").find(
        ({ spec }) => Object.keys(spec.podSelector.matchLabels).length === 0,
      );
      expect([dir, all?.spec.ingress]).toEqual([dir, []]);
    }
  });

  test("selectors and names meet what they mean", () => {
    const problems = opened().all.flatMap(({ dir, manifests }) => {
      const workloads = workloadsOf(manifests);
      const one = (matchLabels: Readonly<Record<string, string>>) =>
        workloads.filter((each) => selects(matchLabels, each)).length === 1;
      return [
        ...ofKind(manifests, "PodDisruptionBudget").filter(({ spec }) => !one(spec.selector.matchLabels)),
        ...ofKind(manifests, "NetworkPolicy").filter(
          ({ spec }) =>
            Object.keys(spec.podSelector.matchLabels).length > 0 && !one(spec.podSelector.matchLabels),
        ),
        ...ofKind(manifests, "Service").filter(
          ({ spec }) =>
            !one(spec.selector) ||
            !spec.ports.every(({ targetPort }) =>
              workloads.some(
                (each) =>
                  selects(spec.selector, each) &&
                  containerOf(each).ports.some(({ name }) => name === targetPort),
              ),
            ),
        ),
        ...workloads.filter(
          (each) =>
            each.kind !== "Job" &&
            !isForPeople(each) &&
            (!selects(each.spec.selector.matchLabels, each) ||
              each.spec.template.spec.topologySpreadConstraints.length === 0 ||
              !each.spec.template.spec.topologySpreadConstraints.every(({ labelSelector }) =>
                one(labelSelector.matchLabels),
              )),
        ),
        ...workloads.filter(
          (each) =>
            !isForPeople(each) &&
            !ofKind(manifests, "PodDisruptionBudget").some(({ spec }) =>
              selects(spec.selector.matchLabels, each),
            ),
        ),
      ].map((each) => `${dir}: ${labelOf(each)}`);
    });
    expect(problems).toEqual([]);
  });

  test("no pod runs as root, writes to its image, has a right that it does not need, or takes memory without a bound", async () => {
    const problems = await problemsOf((workload) => {
      const { spec } = workload.spec.template;
      const { securityContext, resources } = containerOf(workload);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      return [
        spec.automountServiceAccountToken && "has a token of the API",
        resources.limits["memory"] !== resources.requests["memory"] && "memory is not what it asks for",
      ].filter((each) => each !== false);
    });
    expect(problems).toEqual([]);
    const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
    expect(dockerfile).toContain("USER 1000:1000");
  });

  test("images are of this version, and no secret stands in a manifest", async () => {
    const [, version] = /^ARG VERSION=(\S+)$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
    const problems = await problemsOf((workload) =>
      appOf(containerOf(workload)).version === version ? [] : ["another version"],
    );
    expect(problems).toEqual([]);
    for (const { objects } of opened().all)
      expect(JSON.stringify(objects)).not.toMatch(
        /"kind":"Secret"|:\/\/[^"/]*@|"(?:\w*_URL|\w*_KEYS?|\w*PASSWORD)":"/,
      );
  });

  test("an edge's journal is on its volume, fits on it, and its edge has the time to drain", async () => {
    const GiB = 1024 ** 3;
    let edges = 0;
    for (const { manifests } of opened().all) {
      for (const edge of ofKind(manifests, "StatefulSet")) {
        edges += 1;
        const { settings } = await settingsOf(containerOf(edge), manifests);
        const number = (name: string) => z.number().parse(settings[name]);
        const [claim] = edge.spec.volumeClaimTemplates;
        const mounted = { name: claim.metadata.name, mountPath: settings["JOURNAL_DIR"] };
        expect(containerOf(edge).volumeMounts).toContainEqual(mounted);
        // What ext4 keeps for itself and for root is 7 %.
        const room = 0.93 * GiB * Number(/^(\d+)Gi$/.exec(claim.spec.resources.requests.storage)?.[1]);
        expect(number("JOURNAL_BUDGET") + number("JOURNAL_RESERVE")).toBeLessThanOrEqual(room);
        expect(number("JOURNAL_BUDGET")).toBeGreaterThan(0.75 * room);
        // It goes on answering for a while, then finishes, then ships.
        const drainMs = number("DRAIN_TIMEOUT_MS");
        expect(number("DRAIN_NOTICE_MS") + number("SHIP_DRAIN_MS")).toBeLessThan(drainMs);
        expect(edge.spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
          drainMs + 5_000,
        );
      }
    }
    expect(edges).toBeGreaterThan(3);
  });

  test("jobs are commands that there are", async () => {
    const jobs = opened().all.flatMap(({ manifests }) => ofKind(manifests, "Job"));
    const commands = new Set(jobs.map((job) => JSON.stringify(containerOf(job).args)));
    expect(commands.size).toBe(2);
    for (const command of commands) {
      const args = [join(root, "apps/cli/src/main.ts"), ...z.array(z.string()).parse(JSON.parse(command))];
      const said = await new Promise((resolve) => {
        execFile(process.execPath, args, { env: { SLUICE_DATA_DIR: "/nowhere" } }, (_error, _out, err) =>
          resolve(err),
        );
      });
      // It has understood what it is to do, and lacks only where.
      expect(said).toMatch(/^sluice: nothing runs on the data directory \/nowhere/);
    }
  });
});
