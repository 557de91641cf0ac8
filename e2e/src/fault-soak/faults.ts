import { setTimeout as delay } from "node:timers/promises";

import { codesByClass } from "@sluice/click-store/testing/error-codes.ts";

import type { Appender } from "./appender.ts";
import type { Rig } from "./rig.ts";

/** Something that happens to a running system. Resolves when it is over; what it did may take longer to mend. */
export interface Fault {
  readonly name: string;
  happen(): Promise<void>;
}

/** Longer than a process takes to start. */
const longMs = 2_500;
/** About as long as an insert takes. */
const shortMs = 100;

/** The only fault after which a click may be a dead letter. */
export const aboutRow = "code about a row";

const saying = (code: number) => `Code: ${code}. DB::Exception: Injected. (INJECTED)`;

/** All that there are. `random` gives 0 up to 1. */
export function faultsOf(rig: Rig, appender: Appender, random: () => number): Fault[] {
  const one = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const ingester = () => one(rig.ingesters);
  const code = (codes: readonly number[]) => saying(one(codes) ?? 0);
  const next = (...faults: (typeof rig.inserts.faults)[number][]) => {
    rig.inserts.faults.push(...faults);
    return Promise.resolve();
  };
  // Too many parts is waited for up to a minute, and would be all that a soak does.
  const passing = codesByClass.retry.filter((each) => each !== 252);
  return [
    ...processFaults(rig, ingester, random),
    ...connectionFaults(rig, ingester, random),
    named("code that passes", () => next({ kind: "error", body: code(passing) })),
    named("code for the operator", () => next({ kind: "error", body: code(codesByClass.operator) })),
    named(aboutRow, () => next({ kind: "error", body: code(codesByClass.row) })),
    named("stored, and an error", () => next({ kind: "stored, and an error", body: code(passing) })),
    named("answer lost", () => next({ kind: "answer lost" })),
    named("body cut off", () => next({ kind: "cut off" })),
    named("shipper resends", async () => appender.resend(Math.floor(random() * appender.runs().length))),
  ];
}

function processFaults(
  rig: Rig,
  ingester: () => Rig["ingesters"][number] | undefined,
  random: () => number,
): Fault[] {
  const { engine } = rig;
  return [
    named("ingester killed", async () => void ingester()?.kill("SIGKILL")),
    named("ingester stopped", async () => void ingester()?.kill("SIGTERM")),
    named("ingester frozen", async () => {
      const frozen = ingester();
      frozen?.kill("SIGSTOP");
      await delay(random() * longMs);
      frozen?.kill("SIGCONT");
    }),
    named("engine killed", () => engine.away(delay(random() * longMs))),
    named("engine frozen", async () => {
      engine.kill("SIGSTOP");
      await delay(random() * longMs);
      engine.kill("SIGCONT");
    }),
    named("engine frozen, ingester killed", async () => {
      engine.kill("SIGSTOP");
      await delay(random() * longMs);
      ingester()?.kill("SIGKILL");
      await delay(random() * longMs);
      engine.kill("SIGCONT");
    }),
    named("ingester and engine killed", async () => {
      const away = engine.away(delay(random() * longMs));
      await delay(random() * shortMs);
      ingester()?.kill("SIGKILL");
      await away;
    }),
  ];
}

function connectionFaults(
  { connections }: Rig,
  ingester: () => Rig["ingesters"][number] | undefined,
  random: () => number,
): Fault[] {
  return [
    named("connections cut", async () => connections.cut()),
    named("connections refused", async () => {
      connections.refuse();
      await delay(random() * longMs);
      connections.flow();
    }),
    named("server hung, then cut", async () => {
      connections.hang();
      await delay(random() * longMs);
      connections.cut();
      connections.flow();
    }),
    named("answers held, ingester killed", async () => {
      connections.mute();
      await delay(random() * longMs);
      ingester()?.kill("SIGKILL");
      await delay(random() * shortMs);
      connections.flow();
    }),
  ];
}

function named(name: string, happen: () => Promise<void>): Fault {
  return { name, happen };
}
