import { spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, describe, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { visit } from "./testing/http.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { numbersByRun, openJournal, openWorld } from "./testing/world.ts";

/** Clicks until one is refused; gives how many there were. Every one of them has to be redirected. */
async function fill(edge: EdgeProcess): Promise<number> {
  for (let clicks = 1; clicks <= 20_000; clicks += 1) {
    expect(await visit(edge.port, "/demo")).toMatchObject({ status: 302 });
    if (clicks % 50 === 0 && (await refusedBy(edge)) > 0) return clicks;
  }
  throw new Error("the disk never became full");
}

function refusedBy(edge: EdgeProcess): Promise<number> {
  return metric(edge, 'edge_clicks_refused_total{reason="full"}');
}

describeWith("an edge whose disk is full", openWorld, (world) => {
  beforeAll(async () => {
    await world().link("demo");
  });

  it("promise 9: redirects, counts the drop, stays ready and says degraded; with room, accounts for every number", async () => {
    // Nobody reads, so what is written stays.
    await using journal = await openJournal(
      world().postgres.url,
      "reserveBytes=0&minAgeMs=0&budgetBytes=200000&segmentBytes=20000",
    );
    await using edge = await journal.start();
    const clicks = await fill(edge);
    const { ready, report } = await readyz(edge);
    expect(ready).toBe(true);
    expect(report).toMatchObject({ status: "degraded", degraded: { journal: "clicks are refused: full" } });
    const refused = await refusedBy(edge);
    expect(await metric(edge, "edge_clicks_accepted_total")).toBe(clicks - refused);

    // Reading makes room, and the next sweep finds it.
    const before = await journal.read();
    await until("a click is taken again", async () => {
      await visit(edge.port, "/demo");
      return (await metric(edge, 'sluice_degraded{what="journal"}')) === 0;
    });
    edge.kill("SIGTERM");
    await edge.exited;
    const after = await journal.read();
    const content = {
      clicks: [...before.clicks, ...after.clicks],
      ranges: [...before.ranges, ...after.ranges],
    };
    expect(content.ranges.map(({ reason }) => reason)).toContain("full");
    const [numbers] = numbersByRun(content).values();
    expect(numbers?.missing).toEqual([]);
    expect(new Set(numbers?.seen).size).toBe(numbers?.seen.length);
  });

  it("promise 9: redirects and becomes ready though it starts without room", async () => {
    await using journal = await openJournal(world().postgres.url, "reserveBytes=0&budgetBytes=0");
    await using edge = await journal.start();
    await until("it is ready", async () => (await readyz(edge)).ready);
    expect(await visit(edge.port, "/demo")).toMatchObject({ status: 302 });
    expect(await refusedBy(edge)).toBe(1);
  });

  describe.skipIf(!canMount())("for real, on a file system of 4 MB", () => {
    it("redirects while others fill it, and journals again when they make room", async () => {
      await using journal = await openJournal(world().postgres.url);
      await mkdir(journal.dir);
      const mount = `mount -t tmpfs -o size=4m,mode=0777 tmpfs ${journal.dir} && exec "$@"`;
      await using edge = await journal.start({
        shell: `exec unshare --user --map-root-user --mount sh -c '${mount}' sh "$@"`,
      });
      // The mount is the edge's alone; this is the way into it.
      const filler = join("/proc", String(edge.pid), "root", journal.dir, "filler");
      await visit(edge.port, "/demo");
      await writeFile(filler, Buffer.alloc(8_000_000)).catch(() => undefined);
      const clicks = await fill(edge);
      expect((await readyz(edge)).ready).toBe(true);
      await rm(filler);
      await until("a click is taken again", async () => {
        await visit(edge.port, "/demo");
        return (await metric(edge, 'sluice_degraded{what="journal"}')) === 0;
      });
      expect(await metric(edge, "edge_clicks_accepted_total")).toBeGreaterThan(1);
      expect(clicks).toBeGreaterThan(0);
    });
  });
});

/** A mount namespace of its own is a right that containers often lack; the byte budget above shows the same. */
function canMount(): boolean {
  return (
    spawnSync("unshare", ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
      .status === 0
  );
}
