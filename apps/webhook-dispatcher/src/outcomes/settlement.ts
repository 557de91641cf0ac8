import type { Claimed, Settlement } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Parked, Settled } from "../lanes/lanes.ts";

/** What Postgres has to note of a row that was leased, once its attempt has ended or it was handed back. */
export function settlementOf(
  { target, event, lease, made }: Pick<Claimed, "target" | "event" | "lease"> & { readonly made?: number },
  fate: Settled | Parked,
): Settlement {
  const row = { target, eventId: event.id, lease };
  if (fate.kind === "parked")
    return { ...row, kind: "retry", made: made ?? 0, dueAt: fate.dueAt, code: fate.why };
  const { outcome } = fate;
  if (outcome.kind === "retry") {
    return { ...row, kind: "retry", made: outcome.made, dueAt: outcome.dueAt, code: outcome.code };
  }
  if (outcome.kind !== "dead") return { ...row, kind: "done" };
  const { code, detail } = outcome;
  return { ...row, kind: "dead", made: outcome.made, code, ...(detail !== undefined && { detail }) };
}
