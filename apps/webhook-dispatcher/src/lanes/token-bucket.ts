/** Full at first; holds what a second brings, at least one. The rate is given each time, because it changes with the members. */
export class TokenBucket {
  #tokens = Number.POSITIVE_INFINITY;
  #at = 0;

  /** May be negative after `take` without asking. `perSecond` > 0, `now` in ms. */
  available(perSecond: number, now: number): number {
    const most = Math.max(1, perSecond);
    // A clock set back brings nothing.
    const brought = (Math.max(0, now - this.#at) / 1_000) * perSecond;
    this.#tokens = Math.min(most, this.#tokens + brought);
    this.#at = now;
    return this.#tokens;
  }

  take(perSecond: number, now: number): void {
    this.#tokens = this.available(perSecond, now) - 1;
  }

  isFull(perSecond: number, now: number): boolean {
    return this.available(perSecond, now) >= Math.max(1, perSecond);
  }
}
