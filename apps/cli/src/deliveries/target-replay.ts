import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetStore } from "@sluice/link-store/targets/target-store.ts";
import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";
import { sleep } from "@sluice/service/retry.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import type { Json } from "../open-links.ts";
import { openDeliveries, openTargets } from "../open-targets.ts";
import { groupOf } from "../targets/target-groups.ts";
import type { TimeRange } from "../time-range.ts";
import { countDead, redoDead } from "./dead-deliveries.ts";
import { pageSize, wantedClicks } from "./replayed-clicks.ts";

/**
 * Has clicks of a time delivered again, or with `failed` only what is dead. Their ids are the same, so a receiver that
 * knows one drops it; what waits already is not put there twice. Stopped at any point, it can be called again.
 */
export async function replayTarget(
  context: Context,
  id: TargetId,
  {
    from,
    to = Date.now(),
    failed = false,
    json = false,
    dryRun = false,
    rate,
  }: Json & {
    readonly from: number;
    readonly to?: number;
    readonly failed?: boolean;
    readonly dryRun?: boolean;
    readonly rate?: number;
  },
): Promise<void> {
  const range = { fromTs: from, toTs: to };
  await using targets = await openTargets(context);
  await using deliveries = await openDeliveries(context);
  const target = await targets.show(id, Date.now());
  if (!dryRun) refuseUnsendable(target);
  const { due, leftOut } = failed
    ? await replayDead(context, deliveries, id, range, dryRun)
    : await replayClicks(context, { targets, deliveries, target, range, dryRun, rate });
  if (leftOut > 0) process.exitCode = 1;
  if (json) return context.print(JSON.stringify({ id, due, leftOut, dryRun }));
  context.print(`${due} ${failed ? "failed deliveries" : "clicks"} ${dryRun ? "would be" : "are"} due again`);
  if (leftOut > 0)
    context.print(`${leftOut} are left out, because too many wait already: replay again when they are sent`);
}

interface Replayed {
  readonly due: number;
  /** Too many wait for the target already. */
  readonly leftOut: number;
}

async function replayDead(
  context: Context,
  deliveries: DeliveryStore,
  id: TargetId,
  range: TimeRange,
  dryRun: boolean,
): Promise<Replayed> {
  if (dryRun) return { due: await countDead(deliveries, id, range), leftOut: 0 };
  const due = await redoDead(context, deliveries, id, range);
  return { due, leftOut: await countDead(deliveries, id, range) };
}

interface OfClicks {
  readonly targets: TargetStore;
  readonly deliveries: DeliveryStore;
  readonly target: Target;
  readonly range: TimeRange;
  readonly dryRun: boolean;
  readonly rate: number | undefined;
}

async function replayClicks(
  context: Context,
  { targets, deliveries, target, range, dryRun, rate = Infinity }: OfClicks,
): Promise<Replayed> {
  const { id } = target;
  // One that is dead stays so when it is parked again.
  if (!dryRun) await redoDead(context, deliveries, id, range);
  const room = createRoom(context, targets, deliveries, id);
  const startedAt = Date.now();
  let found = 0;
  let notKept = 0;
  for await (const clicks of wantedClicks(context, target, range, Math.min(rate, pageSize))) {
    found += clicks.length;
    if (dryRun || clicks.length === 0) continue;
    await room();
    const now = Date.now();
    const rows = clicks.map((event) => ({ target: id, event, made: 0, replayed: true, dueAt: now }));
    notKept += (await deliveries.park(rows, now)).get(id) ?? 0;
    await sleep(Math.max(0, startedAt + (found / rate) * 1_000 - now), never);
  }
  return { due: found - notKept, leftOut: notKept };
}

/** What the dispatcher has still to send of a replay only fills Postgres; a twentieth of what may wait for a target. */
const maxWaiting = 50_000;
const lookEveryMs = 1_000;
const never = new AbortController().signal;

/** Resolves when there is room for another page. Rejects when nothing is sent to the target any more. */
function createRoom(context: Context, targets: TargetStore, deliveries: DeliveryStore, id: TargetId) {
  let isTold = false;
  return async (): Promise<void> => {
    for (;;) {
      const [standing] = await deliveries.standings({ target: id, limit: 1 });
      if ((standing?.parked ?? 0) + pageSize <= maxWaiting) return;
      refuseUnsendable(await targets.show(id, Date.now()));
      if (!isTold) context.note(`${maxWaiting} wait for ${id}: the rest follows as they are sent`);
      isTold = true;
      await sleep(lookEveryMs, never);
    }
  };
}

function refuseUnsendable({ id, disabled, verified, eventTypes }: Target): void {
  if (disabled !== undefined || !verified) {
    const what = disabled === undefined ? "not verified" : `disabled, ${disabled.reason}`;
    throw new ServiceError("config", `${id} is ${what}: first, sluice ${groupOf(id).name} enable ${id}`);
  }
  if (!eventTypes.includes("link.clicked"))
    throw new ServiceError("config", `${id} takes no clicks: its events are ${eventTypes.join(", ")}`);
}
