import type { LinkOptions } from "@sluice/link-store/link-options.ts";
import type { Benchmark } from "../benchmark.ts";
import { requireTool } from "../program.ts";
import { openSite } from "../site.ts";
import { median } from "../statistics.ts";
import { wrk, wrkTool } from "../wrk.ts";

const plain = { name: "redirects-plain-links", unit: "req/s" };
const ruled = { name: "redirects-five-rules", unit: "req/s" };
const toPlain = { name: "redirects-five-rules/plain", unit: "ratio", goal: { atLeast: 0.9 } };

/** One of each kind; most visitors are asked about all of them, and a part of them fits the last. */
const options: LinkOptions = {
  rules: [
    { countries: ["CH", "LI"], destination: "https://example.com/by-country" },
    { regions: ["US-CA", "US-NY"], destination: "https://example.com/by-region" },
    { languages: ["fi", "sv"], destination: "https://example.com/by-language" },
    {
      times: { zone: "Europe/Berlin", days: [1], from: "03:00", to: "03:01" },
      destination: "https://example.com/by-time",
    },
    { devices: ["desktop"], systems: ["macos"], destination: "https://example.com/by-device" },
  ],
};

/** What targeting costs a redirect: the same visitors at the same links, without rules and with five. */
export const redirectsWithRules: Benchmark = {
  name: "redirects-rules",
  figures: [plain, ruled, toPlain],
  async run(bench) {
    await requireTool(wrkTool, bench);
    const [core, clientCore = core] = bench.cores;
    await using site = await openSite(bench, 10_000);
    await using ruledSite = await openSite(bench, 10_000, options);
    const sides = await Promise.all(
      [site, ruledSite].map(async (each) => {
        const { port } = await each.startEdge({ capture: "on", core });
        const load = { port, requestsPath: each.requestsPath, core: clientCore };
        const rates: number[] = [];
        return { load, rates };
      }),
    );
    const seconds = Math.ceil(4 * bench.scale);
    for (const { load } of sides) await wrk({ ...load, seconds }, bench);
    for (let round = 0; round < bench.rounds; round += 1) {
      // Each is the first as often as the other.
      for (const { load, rates } of round % 2 === 0 ? sides : sides.toReversed())
        rates.push(await wrk({ ...load, seconds }, bench));
    }
    const [ofPlain = [], ofRuled = []] = sides.map(({ rates }) => rates);
    bench.record(plain.name, ofPlain);
    bench.record(ruled.name, ofRuled);
    bench.recordSingle(toPlain.name, median(ofRuled) / median(ofPlain));
  },
};
