import { decodeRecord } from "@sluice/click-event/decode.ts";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { Benchmark } from "../benchmark.ts";
import { createClicks } from "../clicks.ts";

const encodeFigure = { name: "encode", unit: "ns/event" };
const decodeFigure = { name: "decode", unit: "ns/event" };
const enrichFigure = { name: "enrich", unit: "ns/event" };

/** The part of every event's cost that needs no I/O, to see what the other figures are made of. */
export const codec: Benchmark = {
  name: "codec",
  figures: [encodeFigure, decodeFigure, enrichFigure],
  async run(bench) {
    const count = Math.round(100_000 * bench.scale);
    const clicks = createClicks({ edges: 1, total: count });
    const events = Array.from({ length: count }, () => clicks.event());
    const records = events.map(encodeClick);
    const bytes = records.reduce((sum, { length }) => sum + length, 0);
    bench.note(`an event has ${Math.round(bytes / count)} bytes on average`);
    const enrich = createEnricher({ cacheSize: 10_000 });

    const encode: number[] = [];
    const decode: number[] = [];
    const enriched: number[] = [];
    // One round more: the first is for the compiler.
    for (let round = 0; round <= bench.rounds; round += 1) {
      bench.signal.throwIfAborted();
      const times = [
        nanoseconds(events, (event) => void encodeClick(event)),
        nanoseconds(records, (record) => {
          if (decodeRecord(record).kind !== "click") throw new Error("an event of ours cannot be decoded");
        }),
        nanoseconds(events, (event) => void enrich(event)),
      ] as const;
      if (round === 0) continue;
      encode.push(times[0]);
      decode.push(times[1]);
      enriched.push(times[2]);
    }
    bench.record(encodeFigure.name, encode);
    bench.record(decodeFigure.name, decode);
    bench.record(enrichFigure.name, enriched);
  },
};

/** Of one item, on average. */
function nanoseconds<T>(items: readonly T[], work: (item: T) => void): number {
  const startedAt = performance.now();
  for (const item of items) work(item);
  return ((performance.now() - startedAt) * 1e6) / items.length;
}
