import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, expect, it } from "vitest";

import { startLoad } from "./testing/load.ts";
import { numbersByRun, openJournal, openWorld } from "./testing/world.ts";

/** Each kills one edge under load; more of them find more. */
const kills = 40;

describeWith("an edge that is killed", openWorld, (world) => {
  beforeAll(async () => {
    await world().link("demo");
  });

  it(
    "promises 1 and 7: has journaled every click it answered, once and without a gap",
    { timeout: 300_000 },
    async () => {
      await using journal = await openJournal(world().postgres.url);
      const answered: string[] = [];
      for (let seed = 1; seed <= kills; seed += 1) {
        await using edge = await journal.start();
        const load = startLoad(edge.port, "/demo", { name: String(seed) });
        // From the first click on to some hundreds into the load.
        await load.reached(Math.round(1.35 ** (seed % 24)));
        edge.kill("SIGKILL");
        await load.ended;
        answered.push(...load.answered);
      }
      const content = await journal.read();
      const marks = content.clicks.map(({ utm }) => utm.source);
      const journaled = new Set(marks);
      expect(answered.length).toBeGreaterThan(kills);
      expect(answered.filter((mark) => !journaled.has(mark))).toEqual([]);
      expect(marks).toHaveLength(journaled.size);
      expect(new Set(content.clicks.map(({ event_id }) => event_id)).size).toBe(marks.length);
      const runs = numbersByRun(content);
      expect(runs.size).toBe(kills);
      for (const { seen, missing } of runs.values()) {
        expect(missing).toEqual([]);
        expect(new Set(seen).size).toBe(seen.length);
      }
    },
  );

  it("told to stop instead, answers what it has in hand, ends its run, and leaves with 0", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start({ env: { DRAIN_NOTICE_MS: "300" } });
    const load = startLoad(edge.port, "/demo");
    await load.reached(200);
    edge.kill("SIGTERM");
    await load.reached(load.answered.length + 50);
    load.stop();
    await load.ended;
    expect(await edge.exited).toEqual({ code: 0, signal: null });
    const { clicks } = await journal.read();
    const journaled = new Set(clicks.map(({ utm }) => utm.source));
    expect(load.answered.filter((mark) => !journaled.has(mark))).toEqual([]);
    expect(journaled.size).toBe(clicks.length);
  });
});
