import type { Attempt } from "@sluice/click-store/attempts.ts";
import type { AttemptLogMetrics } from "./metrics.ts";

/** Attempts that wait to be written, some of them in hand. What is over its bound is dropped, the oldest first. */
export interface Buffer extends Disposable {
  /** Those that are not in hand. */
  readonly length: number;
  /** Since when the oldest of them waits, on the clock of `performance.now()`; undefined when none does. */
  readonly oldestSince: number | undefined;
  add(attempt: Attempt): void;
  /** Takes the oldest in hand, until the next of these calls. */
  take(count: number): readonly Attempt[];
  /** All but so many, which the store will never take. */
  written(refused: number): void;
  putBack(): void;
  /** Drops all. */
  leave(): void;
}

interface Waiting {
  readonly attempt: Attempt;
  readonly since: number;
}

const measureEveryMs = 1_000;

export function createBuffer(maxAttempts: number, metrics: AttemptLogMetrics): Buffer {
  let waiting: Waiting[] = [];
  let inHand: readonly Waiting[] = [];

  function drop({ length }: readonly unknown[], reason: "full" | "closed"): void {
    if (length > 0) metrics.dropped.inc({ reason }, length);
  }
  /** Many at once where any has to go: a list that long is not moved for each attempt. */
  function makeRoom(): void {
    if (waiting.length + inHand.length > maxAttempts)
      drop(waiting.splice(0, Math.ceil(maxAttempts / 20)), "full");
  }
  function measure(): void {
    metrics.buffered.set(waiting.length + inHand.length);
    const [oldest = waiting[0]] = inHand;
    metrics.oldest.set(oldest === undefined ? 0 : (performance.now() - oldest.since) / 1_000);
  }

  const timer = setInterval(measure, measureEveryMs).unref();
  return {
    get length() {
      return waiting.length;
    },
    get oldestSince() {
      return waiting[0]?.since;
    },
    add(attempt) {
      waiting.push({ attempt, since: performance.now() });
      makeRoom();
    },
    take(count) {
      inHand = waiting.splice(0, count);
      return inHand.map(({ attempt }) => attempt);
    },
    written(refused) {
      metrics.written.inc(inHand.length - refused);
      if (refused > 0) metrics.dropped.inc({ reason: "refused" }, refused);
      inHand = [];
    },
    putBack() {
      waiting = [...inHand, ...waiting];
      inHand = [];
      makeRoom();
    },
    leave() {
      drop(waiting, "closed");
      waiting = [];
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      measure();
    },
  };
}
