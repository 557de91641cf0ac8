import { setImmediate } from "node:timers/promises";
import type { Clock } from "../lanes.ts";

interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

/** Time that passes when the test says so: every timer at its time, and all that follows from it before the next. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #alarms = new Set<Alarm>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const alarm = { at: this.#now + ms, run };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await setImmediate();
    while (this.#next() <= until) await this.#ring();
    this.#now = until;
  }

  /** Time passes until it resolves, and no further. */
  async passUntil<T>(promise: Promise<T>): Promise<T> {
    const done = new AbortController();
    const settled = promise.finally(() => done.abort());
    await setImmediate();
    while (!done.signal.aborted) await this.#ring();
    return await settled;
  }

  #next(): number {
    return Math.min(...[...this.#alarms].map(({ at }) => at));
  }

  /** All alarms of the next moment, and what follows from them. */
  async #ring(): Promise<void> {
    this.#now = Math.max(this.#now, this.#next());
    for (const alarm of this.#alarms) {
      if (alarm.at > this.#now || !this.#alarms.delete(alarm)) continue;
      alarm.run();
    }
    await setImmediate();
  }
}
