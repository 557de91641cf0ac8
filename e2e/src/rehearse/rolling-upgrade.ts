import { restart } from "./apps.ts";
import type { Rehearsal } from "./rehearsal.ts";

/** Each process of each kind is told to stop and started again, one at a time, behind nginx. */
export const rollingUpgrade: Rehearsal = {
  layout: { log: "kafka", regions: ["one", "two"], ingesters: 2, dispatchers: 2, nginx: true },
  phase: "one after the other is restarted",
  async happen({ installation: { edges, ingesters, dispatchers } }) {
    const wrong: string[] = [];
    // As docs/upgrade.md has it: an ingester understands the events of older edges.
    for (const app of [...ingesters, ...dispatchers, ...edges.map((edge) => edge.app)]) {
      const status = await restart(app);
      if (status !== 0) wrong.push(`one that was told to stop ended with ${status}`);
    }
    return wrong;
  },
  // What it must not show is what every rehearsal must not: losses, and visitors without an answer.
  check: () => [],
};
