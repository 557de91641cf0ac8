import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";
import type { ChangeFeed } from "./change-feed.ts";

export interface KeptRead extends AsyncDisposable {
  /** Resolves once it has been read for the first time, or when the signal given to `keepRead` aborts. */
  readonly read: Promise<void>;
  /** Since the last reading that succeeded began, in ms; since the start while none has. */
  ageMs(): number;
}

export interface KeepReadOptions {
  /** What it is, in `degraded`. */
  readonly name: string;
  /** Reads all of it, and takes it over; rejects where it cannot be read. */
  readonly read: () => Promise<void>;
  readonly changes: Pick<ChangeFeed, "onChange">;
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
  /** The net below the notices: how often it is read though nothing is said to have changed. */
  readonly everyMs?: number;
}

/** Between two readings at least, so that someone who edits all the time costs Postgres four readings a second. */
const pauseMs = 250;
/** After a reading that failed: a server that is back is not waited for long, and one in trouble hardly notices. */
const retryMs = 1_000;

/**
 * Has subscriptions read again when one has changed and from time to time. While Postgres is away, what was read last
 * is good for as long as it takes: nobody can change it meanwhile, but a process that is cut off alone goes on with old
 * ones. `degraded` says so.
 */
export function keepRead(options: KeepReadOptions): KeptRead {
  const { name, read, changes, health, everyMs = 15_000 } = options;
  const stopped = new AbortController();
  const signal = AbortSignal.any([options.signal, stopped.signal]);
  const first = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => first.resolve());
  let changed = Promise.withResolvers<void>();
  let readAt = performance.now();

  changes.onChange(({ kind }) => {
    if (kind === "subscriptions" || kind === "all") changed.resolve();
  });

  /** Resolves to how long what was read is good for, unless something changes. */
  async function readOnce(): Promise<number> {
    const startedAt = performance.now();
    try {
      await read();
      readAt = startedAt;
      health.degraded(name, undefined);
      first.resolve();
      return everyMs;
    } catch (error) {
      health.degraded(name, `they cannot be read: ${errorLine(error)}`);
      return retryMs;
    }
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      // Before the reading: what changes during it may not be in it.
      changed = Promise.withResolvers();
      const againMs = await readOnce();
      await Promise.all([pause(pauseMs), Promise.race([changed.promise, pause(againMs)])]);
    }
  }

  /** Ends early when the signal aborts. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, signal).catch(() => {});
  }

  const following = follow();
  return {
    read: first.promise,
    ageMs: () => performance.now() - readAt,
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await following;
    },
  };
}
