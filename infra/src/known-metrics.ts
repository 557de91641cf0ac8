import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createMetrics } from "@sluice/service/metrics.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What can stand in a query because an app says so. */
export interface KnownMetrics {
  /** The labels of each series' name; a histogram's three names are there one by one. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether such a word stands in a source, in quotes or as a key: values of labels come from there. */
  saysWord(word: string): boolean;
}

// name("…", "help" + "more", [numbers or labels], or labels with their values) up to its closing bracket, brackets within strings passed over.
const making = /\.(counter|gauge|histogram)\(\s*"(\w+)"((?:"(?:[^"\\]|\\.)*"|[^"()]|\([^()]*\))*)\)/g;

/** With the labels that stand in its documentation, those that are stable. */
const ofKubernetes = {
  kube_persistentvolumeclaim_info: ["namespace", "persistentvolumeclaim"],
  kube_pod_spec_volumes_persistentvolumeclaims_info: ["namespace", "pod", "persistentvolumeclaim"],
  kube_pod_status_phase: ["namespace", "pod", "phase"],
};

/** Read from the sources, because a registry shows a label only once something has happened. */
export async function knownMetrics(): Promise<KnownMetrics> {
  const files = globSync("{apps,packages}/*/src/**/*.ts", { cwd: root }).filter(
    (file) => !/\.test\.ts$|\/testing\//.test(file),
  );
  const text = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const labels = new Map<string, ReadonlySet<string>>();
  for (const [, kind = "", name = "", rest = ""] of text.matchAll(making)) {
    const [, list = ""] = /^[^{]*\[((?:\s*"\w+",?)+\s*)\]/.exec(rest) ?? [];
    const [, withValues = ""] = /\{([^{}]*)\}/.exec(rest.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")) ?? [];
    const keys = [...withValues.matchAll(/(\w+):/g)].map(([, label = ""]) => label);
    const own = [...list.matchAll(/\w+/g)].map(([label]) => label).concat(keys);
    const suffixes = kind === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    for (const suffix of suffixes)
      labels.set(name + suffix, new Set(suffix === "_bucket" ? [...own, "le"] : own));
  }
  const { body } = await createMetrics({ ofProcess: true }).render();
  for (const [, name = ""] of body.matchAll(/^# TYPE (\w+)/gm)) labels.set(name, new Set());
  // Prometheus' own.
  labels.set("up", new Set(["pod", "region"]));
  labels.set("ALERTS", new Set(["alertname", "alertstate", "severity"]));
  // Those of kube-state-metrics that the rules need, and what it says of them.
  for (const [name, own] of Object.entries(ofKubernetes)) labels.set(name, new Set([...own, "region"]));
  return { labels, saysWord: (word) => text.includes(`"${word}"`) || text.includes(` ${word}: `) };
}
