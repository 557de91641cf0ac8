import { setTimeout as delay } from "node:timers/promises";

import { seeded } from "@sluice/testkit/seed.ts";

import { startClicks } from "./clicks.ts";
import { killAtRandom, type Victim } from "./kills.ts";
import { listenerOn, processesOf } from "./processes.ts";
import { openBroker } from "./broker.ts";
import { createSystem, type System } from "./system.ts";
import { judge, stopMerges, type Verdict } from "./verdict.ts";

export interface OrdealOptions {
  readonly log: "journal" | "kafka";
  readonly kills: number;
  readonly meanPauseMs: number;
  readonly perSecond: number;
  /** At least so many answered clicks; the load goes on until the last kill all the same. */
  readonly clicks: number;
  /** Chooses who is killed and when. How the machine schedules it all remains its own affair. */
  readonly seed: number;
  /** Told what happens, a line each. */
  readonly say: (line: string) => void;
}

export interface Report extends Verdict {
  readonly answered: number;
  /** Clicks without an answer, by what they got instead. They may or may not be stored. */
  readonly unanswered: ReadonlyMap<string, number>;
  readonly kills: ReadonlyMap<string, number>;
  readonly seconds: number;
  /** Of the supervisor, told to stop at the end; 0 when it stopped in good order. */
  readonly exitCode: number | null;
  /** Processes of the system that were still there after it had stopped. Must be empty. */
  readonly leftOver: readonly string[];
  /** What the supervisors printed last. */
  readonly output: readonly string[];
}

/** How long the pipeline may take, all restarts behind it, until what was answered is stored. */
const settleMs = 60_000;

/**
 * Clicks on a running system while its processes are killed at random, and then counts. Everything is done through
 * the ports, and through signals to whoever listens on them.
 */
export async function ordeal(options: OrdealOptions): Promise<Report> {
  const startedAt = performance.now();
  await using resources = new AsyncDisposableStack();
  const broker = options.log === "kafka" ? resources.use(await openBroker()) : undefined;
  const env = broker === undefined ? {} : { EVENT_LOG_URL: broker.url };
  const system = resources.use(await createSystem({ env }));
  const supervisor = keepSupervisor(system, options.say);
  await supervisor.up();
  await stopMerges(system);

  const clicks = startClicks({ port: system.ports.edge, path: "/demo", perSecond: options.perSecond });
  const kills = await killAtRandom({
    ...options,
    random: seeded(options.seed),
    victims: [
      ...listeners(system),
      { name: "supervisor", kill: () => supervisor.kill() },
      ...(broker === undefined ? [] : [{ name: "broker", kill: () => broker.kill() }]),
    ],
  });
  while (clicks.answered.size < options.clicks) await delay(100);
  clicks.stop();
  await clicks.done;

  const verdict = await judge(system, clicks.answered, settleMs);
  const exitCode = await supervisor.stop();
  const leftOver = (await processesOf(system.dataDir)).map(({ pid, command }) => `${pid} ${command}`);
  return {
    ...verdict,
    answered: clicks.answered.size,
    unanswered: clicks.unanswered,
    kills,
    seconds: (performance.now() - startedAt) / 1000,
    exitCode,
    leftOver,
    output: system.output.slice(-200),
  };
}

/** What is told by its port; it is started again by the supervisor. */
function listeners({ ports }: System): Victim[] {
  const victims = {
    edge: ports.edge,
    ingester: ports.ingesterOps,
    clickhouse: ports.clickhouse,
    postgres: ports.postgres,
  };
  return Object.entries(victims).map(([name, port]) => ({
    name,
    async kill() {
      const pid = await listenerOn(port);
      if (pid === undefined) return false;
      process.kill(pid, "SIGKILL");
      return true;
    },
  }));
}

/** Does what a service manager does: starts the supervisor again whenever it ends. */
function keepSupervisor(system: System, say: (line: string) => void) {
  let current = system.start();
  let stopping = false;
  async function keep(): Promise<void> {
    for (;;) {
      const code = await current.ended;
      if (stopping) return;
      if (code !== null) say(`the supervisor ended by itself, exit code ${code}; started again`);
      current = system.start();
    }
  }
  const kept = keep();
  return {
    up: () => current.up,
    kill: async () => current.child.kill("SIGKILL"),
    async stop() {
      stopping = true;
      current.child.kill("SIGTERM");
      await kept;
      return current.ended;
    },
  };
}
