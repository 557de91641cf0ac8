import type { PlannedRequest, Reading, Verdict } from "../channels/channel.ts";
import type { Delivery } from "../delivery.ts";
import type { HttpReply } from "../http/http-client.ts";
import type { Addressee, AttemptMade, LanesOptions, Outcome, ParkReason } from "./lanes.ts";
import { attemptMade, outcomeOf } from "./outcome.ts";

/** What a lane learns while a request is sent. Every delivery is settled or handed back, once. */
export interface Course {
  settle(delivery: Delivery, outcome: Outcome): void;
  handBack(delivery: Delivery, why: ParkReason): void;
  /** Before what was read is settled. */
  heard(reply: HttpReply, reading: Reading, attempt: AttemptMade): void;
  /** What is left of a split is not sent. */
  isStopped(): boolean;
  /** Until when its target pauses, ms since 1970. */
  pausedUntil(): number;
}

export type SendOptions = Pick<LanesOptions, "http" | "ledger" | "clock" | "random">;

/**
 * One request, and those it has to be split into: one after the other, in one slot. Those begin within `limitMs` and take
 * at most as long each. Rejects only for bugs.
 */
export async function send(
  first: PlannedRequest,
  to: Addressee,
  course: Course,
  { limitMs, signal, ...options }: SendOptions & { limitMs: number; signal: AbortSignal },
): Promise<void> {
  const { http, clock, random } = options;
  const begunAt = clock.now();
  const settle = async (
    { deliveries }: PlannedRequest,
    verdicts: readonly Verdict[],
    attempt?: AttemptMade,
  ): Promise<void> => {
    const ledgerFails = to.channel.deduplicates ? false : !(await strike(deliveries, verdicts, options));
    const time = { now: clock.now(), notBefore: course.pausedUntil(), random };
    for (const [index, delivery] of deliveries.entries()) {
      const verdict = verdicts[index] ?? { kind: "unknown", code: "invalid-answer" };
      const kept = ledgerFails && isKnownFailure(verdict);
      // It would be taken for sent when it is tried again.
      const said: Verdict = kept ? { kind: "unknown", code: verdict.code } : verdict;
      course.settle(delivery, outcomeOf(said, delivery, attempt, to, time));
    }
  };
  /** It is tried again at its next time: what is split so often needs longer than one attempt. */
  const giveUp = async (rest: PlannedRequest): Promise<void> =>
    await settle(
      rest,
      rest.deliveries.map(() => ({ kind: "failed", code: "out-of-time" })),
    );

  const todo = to.channel.deduplicates ? [first] : await entered(first, to, course, options);
  for (let next = todo.pop(), isFirst = true; next !== undefined; next = todo.pop(), isFirst = false) {
    const startedAt = clock.now();
    if (!isFirst && (course.isStopped() || startedAt - begunAt >= limitMs)) {
      await giveUp(next);
      continue;
    }
    const reply = await sendWithin(limitMs, next, { http, clock, signal });
    const reading = next.read(reply, clock.now());
    const attempt = attemptMade(startedAt, Math.max(0, clock.now() - startedAt), reply, to);
    course.heard(reply, reading, attempt);
    if (reading.split === true && next.deliveries.length > 1)
      todo.push(...replanned(halves(next.deliveries), to, course, clock.now()));
    else await settle(next, reading.verdicts, attempt);
  }
}

/** A request that is cut off for its length is a time-out to whoever reads of it. */
async function sendWithin(
  limitMs: number,
  { request }: PlannedRequest,
  { http, clock, signal }: Pick<SendOptions, "http" | "clock"> & { signal: AbortSignal },
): Promise<HttpReply> {
  const limit = new AbortController();
  const calledOff = clock.after(limitMs, () => limit.abort());
  const stop = () => limit.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const reply = await http.send(request, limit.signal);
    const isLate = reply.kind === "failure" && reply.code === "aborted" && !signal.aborted;
    return isLate ? { ...reply, code: "timeout" } : reply;
  } finally {
    calledOff();
    signal.removeEventListener("abort", stop);
  }
}

function halves(deliveries: readonly Delivery[]): (readonly Delivery[])[] {
  const middle = Math.ceil(deliveries.length / 2);
  return [deliveries.slice(middle), deliveries.slice(0, middle)];
}

/** The last is sent first. */
function replanned(
  parts: readonly (readonly Delivery[])[],
  { open }: Addressee,
  course: Course,
  now: number,
): PlannedRequest[] {
  return parts.flatMap((part) => {
    const { requests, skipped } = open.plan(part, now);
    for (const { delivery, reason } of skipped) course.settle(delivery, { kind: "skipped", reason });
    return requests;
  });
}

/** Writes a request's deliveries to the ledger. Those that are in it may have been sent: settled as unknown. */
async function entered(
  request: PlannedRequest,
  to: Addressee,
  course: Course,
  { ledger, clock }: SendOptions,
): Promise<PlannedRequest[]> {
  const { deliveries } = request;
  let fresh: ReadonlySet<string>;
  try {
    fresh = await ledger.take(deliveries.map(pairOf), clock.now());
  } catch {
    // Whoever keeps the connection says what is wrong with it.
    for (const delivery of deliveries) course.handBack(delivery, "ledger");
    return [];
  }
  const isFresh = ({ target, event }: Delivery) => fresh.has(`${target} ${event.id}`);
  for (const delivery of deliveries)
    if (!isFresh(delivery))
      course.settle(delivery, { kind: "unknown", made: delivery.made, code: "already-sent" });
  const left = deliveries.filter(isFresh);
  if (left.length === deliveries.length) return [request];
  return left.length === 0 ? [] : replanned([left], to, course, clock.now());
}

/** Takes known failures off the ledger, because they will be tried again or replayed. False when it does not answer. */
async function strike(
  deliveries: readonly Delivery[],
  verdicts: readonly Verdict[],
  { ledger }: Pick<SendOptions, "ledger">,
): Promise<boolean> {
  const known = deliveries.filter((_, index) => isKnownFailure(verdicts[index]));
  if (known.length === 0) return true;
  try {
    await ledger.untake(known.map(pairOf));
    return true;
  } catch {
    return false;
  }
}

function isKnownFailure(
  verdict: Verdict | undefined,
): verdict is Extract<Verdict, { kind: "failed" | "refused" }> {
  return verdict?.kind === "failed" || verdict?.kind === "refused";
}

function pairOf({ target, event }: Delivery): { target: Delivery["target"]; eventId: string } {
  return { target, eventId: event.id };
}
