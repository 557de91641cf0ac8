import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, expect, it } from "vitest";

import { startLoad } from "./testing/load.ts";
import { numbersByRun, openJournal, openWorld } from "./testing/world.ts";

const stepClock = fileURLToPath(new URL("testing/step-clock.ts", import.meta.url));

describeWith("an edge whose clock is set back", openWorld, (world) => {
  beforeAll(async () => {
    await world().link("demo");
  });

  it("begins a new run each time, without losing a click or going back within a run", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start({ nodeArgs: ["--import", stepClock] });
    const load = startLoad(edge.port, "/demo");
    const begun = async () =>
      (await readdir(join(journal.dir, "clicks"))).filter((name) => /^[\da-f-]{36}$/.test(name));
    for (let step = 1; step <= 3; step += 1) {
      await load.reached(load.answered.length + 300);
      edge.kill("SIGUSR2");
      // A step back while the new run is still being opened needs no further one.
      await expect.poll(begun).toHaveLength(step + 1);
    }
    await load.reached(load.answered.length + 300);
    load.stop();
    await load.ended;
    edge.kill("SIGTERM");
    expect(await edge.exited).toMatchObject({ code: 0 });

    const content = await journal.read();
    const runs = numbersByRun(content);
    expect(runs.size).toBe(4);
    for (const { missing } of runs.values()) expect(missing).toEqual([]);
    const journaled = new Set(content.clicks.map(({ utm }) => utm.source));
    expect(load.answered.filter((mark) => !journaled.has(mark))).toEqual([]);
    for (const run of runs.keys()) {
      const times = content.clicks
        .filter(({ edge_run }) => edge_run === run)
        .toSorted((a, b) => a.edge_seq - b.edge_seq);
      expect(times.every(({ ts }, index) => ts >= (times[index - 1]?.ts ?? 0))).toBe(true);
    }
  });
});
