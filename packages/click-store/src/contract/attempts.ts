import { createMetrics } from "@sluice/service/metrics.ts";
import { silentLog } from "@sluice/service/log.ts";
import { expect } from "vitest";
import { type Attempt, type AttemptFilter, openAttemptLog, openAttempts } from "../attempts.ts";
import { sampleAttempt } from "../testing/attempts.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { never, type Trial } from "./trial.ts";

const dayMs = 86_400_000;
/** Noon of yesterday: neither too old for a store nor in the future. */
const noon = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2;
const any = { fromTs: noon - 5 * dayMs, toTs: noon + dayMs };

let targets = 0;

/** An attempt of a target of its own, unless it says another. */
function attempt(changes: Partial<Attempt> = {}): Attempt {
  targets += 1;
  return sampleAttempt({ target: `ep_${targets}`, ts: noon, ...changes });
}

/** What became of attempts to deliver. */
export const attempts = {
  "an attempt comes back as it was": async (trial: Trial) => {
    const odd = "tab\tline\nquote\"' back\\slash \\N 😀 <b>";
    const given = attempt({
      eventType: "endpoint.disabled",
      workspaceId: 4_294_967_295,
      ts: noon + 1,
      number: 10,
      replayed: true,
      outcome: "failed",
      code: "status-503",
      status: 503,
      durationMs: 15_000,
      nextAt: noon + 5_000,
      response: odd,
    });
    await write(trial, [given]);
    expect(await list(trial, { target: given.target })).toEqual([given]);
  },

  "an answer is cut to 1 KiB of whole characters": async (trial: Trial) => {
    const given = attempt({ response: `\0\ud800${"😀".repeat(1_000)}` });
    await write(trial, [given]);
    const [found] = await list(trial, { target: given.target });
    expect(found?.response).toBe(`\ufffd\ufffd${"😀".repeat(254)}`);
  },

  "an attempt that is written again is one, whatever else comes with it": async (trial: Trial) => {
    const { target } = attempt();
    const first = [1, 2, 3].map((number) => attempt({ target, number, outcome: "failed" }));
    await write(trial, first);
    await write(trial, [...first.toReversed(), attempt({ target, number: 4 })]);
    expect(await list(trial, { target })).toHaveLength(4);
    expect(await summary(trial, { target })).toMatchObject([{ attempts: 4, delivered: 1, failed: 3 }]);
  },

  "attempts are listed by target, workspace, event, outcome and time": async (trial: Trial) => {
    const [eventId, workspaceId] = [uuidv7(), 700_001];
    const { target } = attempt();
    const given = [
      attempt({ target, workspaceId, ts: noon, outcome: "failed" }),
      attempt({ target, workspaceId, ts: noon + 1, eventId }),
      attempt({ workspaceId, ts: noon + 2, eventId, outcome: "unknown" }),
    ];
    await write(trial, given);
    const times = async (filter: Partial<AttemptFilter>) =>
      (await list(trial, filter)).map(({ ts }) => ts - noon);
    expect(await times({ target })).toEqual([1, 0]);
    expect(await times({ workspaceId })).toEqual([2, 1, 0]);
    expect(await times({ eventId })).toEqual([2, 1]);
    expect(await times({ workspaceId, outcome: "unknown" })).toEqual([2]);
    expect(await times({ workspaceId, eventId, target })).toEqual([1]);
    expect(await times({ workspaceId, fromTs: noon + 1, toTs: noon + 2 })).toEqual([1]);
    expect(await times({ workspaceId: 700_002 })).toEqual([]);
  },

  "pages give each attempt once, the latest first, over days and among those of one moment": async (
    trial: Trial,
  ) => {
    const workspaceId = 700_003;
    const given = Array.from({ length: 60 }, (_, index) =>
      attempt({ workspaceId, ts: noon - Math.floor(index / 12) * 20 * 3_600_000, target: `ep_${index % 3}` }),
    );
    await write(trial, given);
    await using table = await openAttempts(trial.subject.url);
    for (const filter of [{ workspaceId }, { workspaceId, target: "ep_1" }]) {
      const found: Attempt[] = [];
      for (;;) {
        const after = found.at(-1);
        const page = await table.list({ ...any, ...filter }, { limit: 7, ...(after && { after }) }, never);
        found.push(...page);
        if (page.length < 7) break;
      }
      const wanted = given.filter(({ target }) => filter.target === undefined || filter.target === target);
      expect(found.map(({ ts }) => ts)).toEqual(wanted.map(({ ts }) => ts));
      expect(new Set(found.map(({ eventId }) => eventId)).size).toBe(wanted.length);
    }
    const asked = table.list(any, { limit: 1_001 }, never);
    await expect(asked).rejects.toThrow(new RangeError("limit: takes 1 to 1000, got 1001"));
  },

  "a summary has the worst targets first, and how long what was sent took": async (trial: Trial) => {
    const workspaceId = 700_004;
    const [good, bad, idle] = [attempt().target, attempt().target, attempt().target];
    const of = (target: string, count: number, changes: Partial<Attempt>) =>
      Array.from({ length: count }, (_, index) =>
        attempt({ workspaceId, target, durationMs: index + 1, ...changes }),
      );
    await write(trial, [
      ...of(good, 100, {}),
      ...of(bad, 1, {}),
      ...of(bad, 2, { outcome: "failed" }),
      ...of(bad, 1, { outcome: "refused", durationMs: 2 }),
      ...of(bad, 5, { outcome: "skipped", durationMs: 0 }),
      ...of(idle, 1, { outcome: "skipped", durationMs: 0 }),
    ]);
    const found = await summary(trial, { workspaceId });
    expect(found.map(({ target }) => target)).toEqual([bad, good, idle]);
    expect(found).toMatchObject([
      { attempts: 9, delivered: 1, failed: 2, refused: 1, unknown: 0, skipped: 5, successRate: 0.25 },
      { workspaceId, attempts: 100, successRate: 1 },
      { attempts: 1, successRate: 1, p50Ms: 0, p99Ms: 0 },
    ]);
    expect(Math.abs((found[1]?.p50Ms ?? 0) - 50)).toBeLessThanOrEqual(1);
    expect(Math.abs((found[1]?.p99Ms ?? 0) - 99)).toBeLessThanOrEqual(1);
  },

  "nothing to write is written, and who is told to stop stops": async (trial: Trial) => {
    await write(trial, []);
    const reason = new Error("stop");
    await using log = await openLog(trial);
    await expect(log.write([attempt()], AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(log.keep(noon, AbortSignal.abort(reason))).rejects.toBe(reason);
  },

  "one attempt is made, and a store that is away or refuses a value is an error of ours": async (
    trial: Trial,
  ) => {
    await using away = await openAttemptLog(trial.subject.url.replace(/:\d+\//, ":1/"), logs);
    const refused = away.write([attempt()], never);
    await expect(refused).rejects.toMatchObject({ name: "ClickStoreError", class: "retry" });
    await using log = await openLog(trial);
    await expect(log.write([attempt({ eventId: "not a uuid" })], never)).rejects.toMatchObject({
      name: "ClickStoreError",
      class: "row",
    });
  },
};

const logs = { log: silentLog, metrics: createMetrics() };

function openLog({ subject }: Trial) {
  return openAttemptLog(subject.url, logs);
}

async function write(trial: Trial, given: readonly Attempt[]): Promise<void> {
  await using log = await openLog(trial);
  await log.write(given, never);
}

async function list({ subject }: Trial, filter: Partial<AttemptFilter>) {
  await using table = await openAttempts(subject.url);
  return await table.list({ ...any, ...filter }, { limit: 1_000 }, never);
}

async function summary({ subject }: Trial, filter: Partial<AttemptFilter>) {
  await using table = await openAttempts(subject.url);
  return await table.summary({ ...any, ...filter }, { limit: 10 }, never);
}
