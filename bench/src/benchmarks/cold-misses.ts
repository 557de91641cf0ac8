import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import { requireTool } from "../program.ts";
import { createRequestsForEach, separator } from "../requests.ts";
import { openSite } from "../site.ts";
import { readMetric } from "../statistics.ts";
import { seeded } from "../random.ts";
import { wrk, wrkTool } from "../wrk.ts";

const misses = { name: "cold-misses", unit: "req/s", goal: { atLeast: 5_000 } };

/** More than an edge is asked for in a round. */
const linkCount = 60_000;
const secondsEach = 3;

/**
 * Visits of which each is the first to its link, so that each waits for Postgres, on the same cores. The visitors wait
 * for their answers, and an edge that queued would answer some with 503, which is an error here.
 */
export const coldMisses: Benchmark = {
  name: "cold-misses",
  figures: [misses],
  async run(bench) {
    await requireTool(wrkTool, bench);
    await using site = await openSite(bench, linkCount);
    const requestsPath = join(site.dir, "each-once");
    const requests = createRequestsForEach(seeded(4), site.links);
    await writeFile(requestsPath, requests.map((request) => request + separator).join(""));
    const rates: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      // A new one knows nothing.
      const { app, port } = await site.startEdge({ capture: "on" });
      rates.push(await wrk({ port, requestsPath, seconds: secondsEach }, bench));
      const accepted = readMetric(await app.metrics(), "edge_clicks_accepted_total");
      if (accepted > linkCount)
        throw new Error(`edge: ${accepted} visits, so some were not the first to their link`);
      await app[Symbol.asyncDispose]();
    }
    bench.record(misses.name, rates);
  },
};
