/** A bound on how much runs at once and on how much waits for its turn. */
export interface Slots {
  /** Runs `work` when its turn comes and settles as it does. Rejects with SlotsFull at once when too much waits. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export class SlotsFull extends Error {
  override readonly name = "SlotsFull";
}

export function createSlots(maxRunning: number, maxWaiting: number): Slots {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (running < maxRunning) running++;
      else if (waiting.length >= maxWaiting)
        throw new SlotsFull(`${maxRunning} running and ${maxWaiting} waiting`);
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The slot passes to the next in line, or is free again.
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
  };
}
