import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { sleep } from "@sluice/service/retry.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { type ChangeLog, type ChangePage, changesChannel, type NotedChange } from "./change-log.ts";
import { changeFeedMetrics } from "./change-feed-metrics.ts";

/** Something that is no longer as it was read before; `all` when nobody can say what. */
export type Change =
  | { readonly kind: "link"; readonly domain: string; readonly slug: string; readonly position: number }
  | { readonly kind: "domain"; readonly domain: string; readonly position: number }
  /** Endpoints or integrations, of whatever workspace. */
  | { readonly kind: "subscriptions"; readonly position: number }
  | { readonly kind: "all"; readonly position: number };

export interface ChangeFeed extends AsyncDisposable {
  /**
   * From now on `listener` is called with each change that is learnt, once or more often, while what it says can be
   * read: within milliseconds of its commit when the bell rings, else within half a second. A change may be of
   * something that the listener has never heard of. The listener must not throw.
   */
  onChange(listener: (change: Change) => void): void;
  /** All that was committed up to there is known; `undefined` when the last answer is over a second old. */
  position(): number | undefined;
}

/** Says that there may be something new; may ring for nothing, and may fail to ring. */
export interface Bell {
  subscribe(
    channel: string,
    options: { signal: AbortSignal },
  ): AsyncIterable<{ readonly kind: "message" | "gap" }>;
}

export interface ChangeFeedOptions {
  readonly store: ChangeLog;
  readonly bell: Bell;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Between two questions without a ring. With the question and the reading that follows it makes less than 1 s. */
  readonly everyMs?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

const defaultEveryMs = 300;
/** To ask, as long as a look-up may take. */
const limitMs = 500;
/** More at once, and it is cheaper to take everything for changed. Some 2 MB of answer. */
const maxChanges = 10_000;
/** Half as long as Postgres keeps them, for clocks and for long transactions. */
const keptMs = 30 * 60_000;
/** A second is what an edit may take to be seen. */
const currentMs = 1_000;
/** Between two questions at least, so that a thousand edits a second are some fifty questions. */
const pauseMs = 20;

/**
 * Asks Postgres again and again what has changed, at once when the bell rings. So no notice need arrive: one that does
 * only makes it sooner. Follows until disposed; while Postgres is away it goes on asking and says nothing.
 */
export function followChanges(options: ChangeFeedOptions): ChangeFeed {
  const { store, bell, log, everyMs = defaultEveryMs, now = () => performance.now() } = options;
  const count = changeFeedMetrics(options.metrics);
  const messages = {
    failing: "Postgres cannot be asked what has changed: what was last read is gone by",
    over: "Postgres can be asked what has changed again",
  };
  const outage = createOutage(log, {}, messages, now);
  const listeners = new Set<(change: Change) => void>();
  const stopped = new AbortController();
  const { signal } = stopped;
  let rung = Promise.withResolvers<void>();
  let last: Answer | undefined;

  async function listen(): Promise<void> {
    for await (const { kind } of bell.subscribe(changesChannel, { signal })) {
      count.rung(kind);
      rung.resolve();
    }
  }

  async function ask(): Promise<void> {
    while (!signal.aborted) {
      rung = Promise.withResolvers();
      try {
        await askOnce();
        outage.over();
      } catch (error) {
        outage.failing(error);
      }
      await Promise.all([pause(pauseMs), Promise.race([rung.promise, pause(everyMs)])]);
    }
  }

  async function askOnce(): Promise<void> {
    const at = now();
    const page = await withinMs(limitMs, store.changes(last?.position ?? 0, maxChanges + 1));
    const earlier = last;
    last = { at, position: page.position, ids: new Set(page.changes.map(({ id }) => id)) };
    for (const { change, ageMs } of news(page, at, earlier)) {
      count.changed(change.kind);
      if (ageMs !== undefined) count.age(ageMs);
      for (const listener of listeners) listener(change);
    }
  }

  /** Ends early when the feed does. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, signal).catch(() => {});
  }

  const following = Promise.all([listen(), ask()]);
  return {
    onChange: (listener) => void listeners.add(listener),
    position: () => (last !== undefined && now() - last.at < currentMs ? last.position : undefined),
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await following;
    },
  };
}

/** What was told at one asking. */
interface Answer {
  readonly at: number;
  readonly position: number;
  readonly ids: ReadonlySet<number>;
}

/** What an answer says that the earlier one did not, oldest first; the age of those that were waited for. */
function news(
  { position, changes }: ChangePage,
  at: number,
  earlier: Answer | undefined,
): readonly { change: Change; ageMs?: number }[] {
  // A position goes back when a database is restored from a copy.
  const lost = earlier !== undefined && (position < earlier.position || at - earlier.at > keptMs);
  if (lost || changes.length > maxChanges) return [{ change: { kind: "all", position: position - 1 } }];
  if (earlier === undefined) return changes.toReversed().map((each) => ({ change: changeOf(each) }));
  return changes
    .toReversed()
    .filter(({ id }) => !earlier.ids.has(id))
    .map((each) => ({ change: changeOf(each), ageMs: each.ageMs }));
}

function changeOf({ domain, slug, subject, position }: NotedChange): Change {
  if (subject !== null) return { kind: subject, position };
  if (domain === null) return { kind: "all", position };
  return slug === null ? { kind: "domain", domain, position } : { kind: "link", domain, slug, position };
}
