const quickToBePrompt = 3;
/** An endpoint that is quick three times and then hangs would otherwise hold up a batch each time. */
const mostToBePrompt = 100;

/** Whether batches may wait for a lane. */
export class Speed {
  #slow = false;
  #quick = 0;
  #needed = quickToBePrompt;
  #relapses = false;
  #averageMs: number | undefined;

  get isSlow(): boolean {
    return this.#slow;
  }
  /** Of a lane that has not answered yet undefined. */
  get averageMs(): number | undefined {
    return this.#averageMs;
  }

  ended(durationMs: number, slowMs: number): void {
    this.#averageMs = ((this.#averageMs ?? durationMs) * 3 + durationMs) / 4;
    if (durationMs > slowMs) this.beSlow();
    else this.#beQuick();
  }

  /** A batch waited for it in vain, or an attempt took long. */
  beSlow(): void {
    if (!this.#slow && this.#relapses) this.#needed = Math.min(mostToBePrompt, this.#needed * 2);
    this.#relapses = true;
    this.#slow = true;
    this.#quick = 0;
  }

  #beQuick(): void {
    this.#quick += 1;
    if (this.#quick >= this.#needed) this.#slow = false;
    if (this.#quick < mostToBePrompt) return;
    this.#needed = quickToBePrompt;
    this.#relapses = false;
  }
}
