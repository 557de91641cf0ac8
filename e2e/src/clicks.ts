import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Marks } from "./marks.ts";

export interface ClickLoad {
  /** The edge's, on the loopback interface. */
  readonly port: number;
  /** A short link of `localhost`. */
  readonly path: string;
  readonly perSecond: number;
  /** One of so many loads, counted from 0, which have no mark in common. */
  readonly turn?: { readonly index: number; readonly of: number };
  /** Told of each outcome and how long the visitor waited for it. */
  readonly onOutcome?: (outcome: string, ms: number) => void;
}

export interface Clicks extends AsyncDisposable {
  /** The marks of the clicks whose redirect was received whole. Only these have to be in the table. */
  readonly answered: Marks;
  /** How many got no answer, or a cut one, or one that was no redirect; by what they got instead. */
  readonly unanswered: ReadonlyMap<string, number>;
  /** Sends no more. Resolves when the last click has been answered or has failed. */
  stop(): Promise<void>;
}

/** Twice a restart of the edge: what has no answer by then will get none. */
const answerTimeoutMs = 5_000;
const tickMs = 5;
/** How many may be under way: more than that are not sent, as long as the edge is away or slow. */
const connections = 64;

/**
 * Clicks at a steady rate, each with a mark of its own: `utm_content` counts up and is how it is found in the
 * table. A click that fails is not tried again: another mark is.
 */
export function startClicks(load: ClickLoad): Clicks {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const answered = new Marks();
  const unanswered = new Map<string, number>();
  const stopping = new AbortController();
  const underWay = new Set<number>();
  const { index, of } = load.turn ?? { index: 0, of: 1 };
  let mark = index + 1 - of;

  async function click(mine: number): Promise<void> {
    underWay.add(mine);
    const askedAt = performance.now();
    const outcome = await answer(agent, load.port, `${load.path}?utm_content=${mine}`);
    underWay.delete(mine);
    load.onOutcome?.(outcome, performance.now() - askedAt);
    if (outcome === "302") answered.add(mine);
    else unanswered.set(outcome, (unanswered.get(outcome) ?? 0) + 1);
  }

  async function run(): Promise<void> {
    const startedAt = performance.now();
    // What could not be sent on time, because the edge was away, is not made up for: `due` moves on regardless.
    for (let due = 0; !stopping.signal.aborted; await delay(tickMs)) {
      const target = Math.floor(((performance.now() - startedAt) / 1000) * load.perSecond);
      for (; due < target; due += 1) if (underWay.size < connections) click((mark += of)).catch(fail);
    }
    while (underWay.size > 0) await delay(tickMs);
    agent.destroy();
  }

  const done = run();
  async function stop(): Promise<void> {
    stopping.abort();
    await done;
  }
  return { answered, unanswered, stop, [Symbol.asyncDispose]: stop };
}

/** A bug of the load itself must not pass for a visitor's bad luck. */
function fail(error: unknown): never {
  throw error;
}

/** A person's, so that what is kept from bots comes too. */
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** The status of a response received whole, or the code of what went wrong. Never rejects. */
export function answer(agent: Agent, port: number, path: string): Promise<string> {
  return new Promise((resolve) => {
    // The address, because `localhost` would first be tried as IPv6; the name, because links belong to it.
    const to = {
      agent,
      host: "127.0.0.1",
      port,
      path,
      headers: { host: "localhost", "user-agent": browser },
      timeout: answerTimeoutMs,
    };
    const sent = request(to, (response) => {
      response.once("end", () => resolve(String(response.statusCode)));
      response.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      response.resume();
    });
    sent.once("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end();
  });
}
