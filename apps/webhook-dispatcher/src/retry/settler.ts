import type { DeliveryStore, Settlement } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { onceBack } from "../store-errors.ts";

/** Notes in Postgres what became of rows that were leased. */
export interface Settler {
  /** Never waits. What is added is bounded by what is leased. */
  add(settlement: Settlement): void;
  /** Resolves once all that was added is noted. Rejects when the signal aborts before. */
  flush(signal: AbortSignal): Promise<void>;
}

export interface SettlerOptions {
  readonly settle: DeliveryStore["settle"];
  /**
   * Resolves when every row that somebody may settle is in the table: one whose attempt ends while its batch is being
   * parked would else be settled before it is there, and be sent again.
   */
  readonly parked: () => Promise<void>;
  readonly log: Log;
  readonly maxWaitMs?: number;
}

/** In one statement. */
const maxAtOnce = 1_000;

export function createSettler({ settle, parked, log, maxWaitMs = 50 }: SettlerOptions): Settler {
  let waiting: Settlement[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const stopped = new AbortController();
  const outage = createOutage(
    log,
    {},
    {
      failing: "Postgres does not take the outcome of deliveries: they are sent again when their leases end",
      over: "Postgres takes the outcome of deliveries again",
    },
  );

  async function settleAll(signal: AbortSignal): Promise<void> {
    await parked();
    while (waiting.length > 0) {
      const some = waiting.slice(0, maxAtOnce);
      await onceBack(() => settle(some, Date.now()), outage, signal);
      waiting = waiting.slice(some.length);
    }
  }

  return {
    add(settlement) {
      waiting.push(settlement);
      timer ??= setTimeout(() => {
        timer = undefined;
        running = running.then(() => settleAll(stopped.signal));
      }, maxWaitMs);
    },
    async flush(signal) {
      clearTimeout(timer);
      timer = undefined;
      signal.addEventListener("abort", () => stopped.abort(), { once: true });
      running = running.then(() => settleAll(signal));
      await running;
    },
  };
}
