import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedisSet } from "@sluice/testkit/redis-set.ts";
import { expect, test, vi } from "vitest";

import { startClicks } from "./clicks.ts";
import { processesOf, send } from "./processes.ts";
import { keepSupervisor } from "./supervisor.ts";
import { createSystem, type System } from "./system.ts";
import { judge } from "./verdict.ts";

const perSecond = 200;
const patience = { timeout: 60_000, interval: 100 };

describeWith("a set of Redis that is the event log", testRedisSet, (set) => {
  test(
    "fails over under load: what only the old primary had is shipped again, and each click is stored once",
    { timeout: 180_000 },
    async () => {
      const { url, primary, replica } = set();
      // The shortest idle time that the URL takes: what an ingester held comes again after it.
      const eventLog = `${url}?groups=store,fanout&idleMs=5000`;
      await using system = await createSystem({
        store: "postgres",
        env: { EVENT_LOG_URL: eventLog, REDIS_URL: url },
      });
      await using supervisor = keepSupervisor(system);
      await supervisor.up();
      await using clicks = startClicks({ port: system.ports.edge, path: "/demo", perSecond });
      const stored = async () => Number((await system.query("SELECT count(*) FROM click_events"))[0]);
      await vi.waitFor(async () => expect(await stored()).toBeGreaterThan(perSecond), patience);

      // A second of clicks that Redis acknowledges, nobody has read, and the replica does not get.
      await sendToIngester(system, "SIGSTOP");
      replica.kill("SIGSTOP");
      await redisCli(primary.port, "CLIENT", "KILL", "TYPE", "replica");
      const before = await lengthOf(primary.port);
      await vi.waitFor(
        async () => expect(await lengthOf(primary.port)).toBeGreaterThan(before + perSecond),
        patience,
      );
      primary.kill("SIGKILL");
      await primary.exited;
      replica.kill("SIGCONT");
      await sendToIngester(system, "SIGCONT");
      const from = clicks.answered.size;

      // Everything finds the new primary by itself, and goes on.
      await vi.waitFor(async () => expect(await redisCli(replica.port, "ROLE")).toMatch(/^master/), patience);
      await vi.waitFor(() => expect(clicks.answered.size).toBeGreaterThan(from + perSecond), patience);
      await clicks.stop();
      const verdict = await judge(system, clicks.answered, 60_000);
      expect(verdict).toMatchObject({ missing: [], repeatsInView: 0, holes: [], deadLetters: 0 });
      // Visitors have not noticed.
      expect(clicks.unanswered).toEqual(new Map());
    },
  );
});

async function sendToIngester(system: System, signal: NodeJS.Signals): Promise<void> {
  const processes = await processesOf(system.dataDir);
  const ingester = processes.find(({ command }) => command.includes("click-ingester"));
  if (ingester === undefined) throw new Error("there is no ingester");
  send(ingester.pid, signal);
}

async function lengthOf(port: number): Promise<number> {
  return Number(await redisCli(port, "XLEN", "sluice:log:clicks"));
}

async function redisCli(port: number, ...command: string[]): Promise<string> {
  return (await promisify(execFile)("redis-cli", ["-p", `${port}`, ...command])).stdout;
}
