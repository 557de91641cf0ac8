import type { Target, TargetKind } from "@sluice/link-store/targets/target.ts";
import type { Delivery } from "../../delivery.ts";
import type { HttpReply, HttpRequest } from "../../http/http-client.ts";
import type { OpenTarget, Reading, SkipReason, Verdict } from "../channel.ts";
import { sampleTarget as anyTarget } from "../../testing/clicks.ts";

/** A client of the simplest kind, for loopback. */
export async function send(request: HttpRequest): Promise<HttpReply> {
  try {
    const answer = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: "manual",
      ...(request.body === undefined ? {} : { body: request.body.toString() }),
    });
    const body = await answer.text();
    const headers = Object.fromEntries(answer.headers);
    return { kind: "answer", status: answer.status, headers, body, durationMs: 1 };
  } catch {
    return { kind: "failure", code: "connection-closed", maybeReceived: true, durationMs: 1 };
  }
}

export interface Driven {
  readonly verdicts: ReadonlyMap<Delivery, Verdict>;
  readonly skipped: ReadonlyMap<Delivery, SkipReason>;
  readonly readings: readonly Reading[];
}

/** Sends what is planned and follows `split`, as a lane does, but retries nothing. */
export async function drive(open: OpenTarget, deliveries: readonly Delivery[], now: number): Promise<Driven> {
  const verdicts = new Map<Delivery, Verdict>();
  const skipped = new Map<Delivery, SkipReason>();
  const readings: Reading[] = [];
  const waiting: (readonly Delivery[])[] = [deliveries];
  for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
    const plan = open.plan(group, now);
    for (const { delivery, reason } of plan.skipped) skipped.set(delivery, reason);
    for (const planned of plan.requests) {
      const reading = planned.read(await send(planned.request), now);
      readings.push(reading);
      if (reading.split === true) {
        const middle = Math.ceil(planned.deliveries.length / 2);
        waiting.push(planned.deliveries.slice(0, middle), planned.deliveries.slice(middle));
      } else {
        for (const [at, delivery] of planned.deliveries.entries()) {
          const verdict = reading.verdicts[at];
          if (verdict === undefined || verdicts.has(delivery)) throw new Error("not one verdict for each");
          verdicts.set(delivery, verdict);
        }
      }
    }
  }
  return { verdicts, skipped, readings };
}

/** One of that kind whose settings are the test's. */
export function sampleTarget(kind: TargetKind, changes: Partial<Target> = {}): Target {
  return anyTarget({ id: "in_1", kind, url: "", method: "GET", ...changes });
}
