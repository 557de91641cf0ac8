import type { Benchmark } from "../benchmark.ts";
import { pacedLoad } from "../paced-load.ts";
import { requireTool } from "../program.ts";
import { openSite } from "../site.ts";
import { type Buckets, median, quantileBetween, readHistogram } from "../statistics.ts";
import { connections, wrk, wrkTool } from "../wrk.ts";

const highest = { name: "redirects-highest", unit: "req/s" };
const p50 = { name: "redirect-p50", unit: "ms" };
const p99 = { name: "redirect-p99", unit: "ms", goal: { atMost: 3 } };
const p999 = { name: "redirect-p99.9", unit: "ms" };

/**
 * How long a redirect takes inside the server, its journal write included, at half of the highest rate. Nothing is
 * kept to a core: V8's own threads need one too. The client's view is left out, because it would be the client's noise.
 */
export const redirectTail: Benchmark = {
  name: "redirect-tail",
  figures: [highest, p50, p99, p999],
  async run(bench) {
    await requireTool(wrkTool, bench);
    await using site = await openSite(bench, 10_000);
    const edge = await site.startEdge({ capture: "on" });
    const { port } = edge;
    const seconds = Math.ceil(5 * bench.scale);
    const rates: number[] = [];
    // The first of four is for the compiler and for links that are not in memory yet.
    for (let round = 0; round < 4; round += 1) {
      rates.push(
        await wrk({ port, requestsPath: site.requestsPath, seconds: Math.ceil(seconds / 2) }, bench),
      );
    }
    const measured = rates.slice(1);
    bench.record(highest.name, measured);

    const load = {
      port,
      requests: site.requests,
      connections,
      rate: median(measured) / 2,
      signal: bench.signal,
    };
    const rounds: { before: Buckets; after: Buckets }[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const before = readHistogram(await edge.app.metrics(), "http_redirect_seconds");
      await pacedLoad({ ...load, seconds });
      rounds.push({ before, after: readHistogram(await edge.app.metrics(), "http_redirect_seconds") });
    }
    const shares = [
      [p50, 0.5],
      [p99, 0.99],
      [p999, 0.999],
    ] as const;
    for (const [{ name }, share] of shares) {
      bench.record(
        name,
        rounds.map(({ before, after }) => quantileBetween(before, after, share) * 1_000),
      );
    }
    bench.note("times are upper ends of the server's histogram buckets");
  },
};
