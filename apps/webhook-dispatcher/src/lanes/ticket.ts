import type { Claimed } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Delivery } from "../delivery.ts";
import type { Fate, Parked, Settled } from "./lanes.ts";

/** A delivery waiting in a lane or in flight. */
export interface Ticket {
  readonly delivery: Delivery;
  /** Handed back when it was not started by then, ms since 1970. */
  readonly patientUntil: number;
  /** Once. */
  readonly report: (fate: Settled | Parked) => void;
}

export interface Batch {
  readonly fates: Promise<readonly Fate[]>;
  ticket(index: number, delivery: Delivery, patientUntil: number): Ticket;
  /** Those that have no fate yet, by their index. */
  outstanding(): readonly number[];
  /** What has no fate is under way from now on, and its outcome is told as a claimed delivery's. */
  close(): void;
}

/** The fates of `size` deliveries: told together while the batch waits, one by one after that. */
export function createBatch(
  size: number,
  underWay: () => { lease: string; until: number },
  onLate: (delivery: Claimed, fate: Settled | Parked) => void,
): Batch {
  const { promise, resolve } = Promise.withResolvers<readonly Fate[]>();
  const fates: (Fate | undefined)[] = Array.from({ length: size }, () => undefined);
  let open = size;
  let late: { lease: string; until: number } | undefined;
  if (size === 0) resolve([]);
  return {
    fates: promise,
    ticket: (index, delivery, patientUntil) => ({
      delivery,
      patientUntil,
      report(fate) {
        if (late !== undefined) return onLate({ ...delivery, lease: late.lease }, fate);
        fates[index] = fate;
        open -= 1;
        if (open === 0) resolve(fates.filter((each) => each !== undefined));
      },
    }),
    outstanding: () => [...fates.keys()].filter((index) => fates[index] === undefined),
    close() {
      if (open === 0 || late !== undefined) return;
      const given = underWay();
      late = given;
      resolve(fates.map((fate) => fate ?? { kind: "under-way", ...given }));
    },
  };
}
