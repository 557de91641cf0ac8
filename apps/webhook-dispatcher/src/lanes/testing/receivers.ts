import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";
import type { OpenTarget, Reading } from "../../channels/channel.ts";
import type { Delivery } from "../../delivery.ts";
import type { HttpClient, HttpReply } from "../../http/http-client.ts";
import type { Addressee, Clock } from "../lanes.ts";

/** What an endpoint does with a request. */
export interface Behaviour {
  /** Until it answers; 15 s, the client's limit, at most. */
  readonly ms: number;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

export const quick: Behaviour = { ms: 20 };
export const hung: Behaviour = { ms: Number.POSITIVE_INFINITY };
const clientLimitMs = 15_000;

export interface Extra {
  readonly workspaceId?: number;
  readonly host?: string;
  readonly maxEvents?: number;
  readonly maxInFlight?: number;
  readonly maxPerSecond?: number;
  readonly deduplicates?: boolean;
  readonly maxTries?: number;
  readonly open?: Partial<OpenTarget>;
}

export interface Receivers extends Pick<HttpClient, "send"> {
  /** What has been so far. */
  forget(): void;
  behave(id: TargetId, behaviour: () => Behaviour): void;
  /** When requests to it arrived, ms. */
  arrivals(id: TargetId): readonly number[];
  inFlight(id: TargetId): number;
  /** The most that ever were in flight to these at once. */
  most(isOne: (id: TargetId) => boolean): number;
}

/** Endpoints that do as they are told. */
export function createReceivers(clock: Clock): Receivers {
  const known = new Map<string, { id: TargetId; behaviour: () => Behaviour }>();
  const log: { id: TargetId; at: number; change: 1 | -1 }[] = [];
  return {
    behave: (id, behaviour) => known.set(urlOf(id), { id, behaviour }),
    forget: () => (log.length = 0),
    arrivals: (id) => log.filter((each) => each.id === id && each.change === 1).map(({ at }) => at),
    inFlight: (id) => log.reduce((sum, each) => (each.id === id ? sum + each.change : sum), 0),
    most(isOne) {
      let [now, most] = [0, 0];
      for (const { id, change } of log) {
        if (isOne(id)) now += change;
        most = Math.max(most, now);
      }
      return most;
    },
    async send({ url }, signal) {
      const receiver = known.get(url);
      if (receiver === undefined) throw new Error(`nobody listens at ${url}`);
      const { id, behaviour } = receiver;
      log.push({ id, at: clock.now(), change: 1 });
      const reply = await answer(behaviour(), signal, clock);
      log.push({ id, at: clock.now(), change: -1 });
      return reply;
    },
  };
}

async function answer(
  { ms, status = 200, retryAfterMs }: Behaviour,
  signal: AbortSignal,
  clock: Clock,
): Promise<HttpReply> {
  const { promise, resolve } = Promise.withResolvers<HttpReply>();
  const durationMs = Math.min(ms, clientLimitMs);
  const headers = retryAfterMs === undefined ? {} : { "retry-after": String(retryAfterMs / 1_000) };
  const calledOff = clock.after(durationMs, () =>
    resolve(
      ms > clientLimitMs
        ? { kind: "failure", code: "timeout", maybeReceived: true, durationMs }
        : { kind: "answer", status, headers, body: "", durationMs },
    ),
  );
  const abort = (): void => {
    calledOff();
    resolve({ kind: "failure", code: "aborted", maybeReceived: true, durationMs });
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return await promise;
}

function urlOf(id: TargetId): string {
  return `https://${id}.test/`;
}

export function addressee(
  id: TargetId,
  extra: Extra,
  onSent: (deliveries: readonly Delivery[]) => void,
): Addressee {
  const { deduplicates = true, maxTries, workspaceId = 1, host = id, maxEvents = 1 } = extra;
  const target: Target = {
    id,
    kind: id.startsWith("in_") ? "mixpanel" : "webhook",
    workspaceId,
    description: "",
    eventTypes: ["link.clicked"],
    filter: { includeBots: false, includeOptedOut: false },
    url: urlOf(id),
    method: "POST",
    headers: {},
    secrets: [],
    settings: {},
    allowPrivate: false,
    maxInFlight: extra.maxInFlight,
    maxPerSecond: extra.maxPerSecond,
    verified: true,
    disabled: undefined,
  };
  return {
    target,
    channel: { deduplicates, ...(maxTries !== undefined && { maxTries }) },
    open: {
      host,
      maxEvents,
      plan: (deliveries) => ({
        requests: [
          {
            deliveries,
            request: { method: "POST", url: urlOf(id), headers: {}, allowPrivate: false },
            read(reply) {
              onSent(deliveries);
              return readAll(reply, deliveries);
            },
          },
        ],
        skipped: [],
      }),
      ...extra.open,
    },
  };
}

function readAll(reply: HttpReply, deliveries: readonly Delivery[]): Reading {
  if (reply.kind === "failure")
    return {
      verdicts: deliveries.map(() => ({
        kind: reply.maybeReceived ? "unknown" : "failed",
        code: reply.code,
      })),
    };
  const { status, headers } = reply;
  const isOk = status < 300;
  const retryAfter = headers["retry-after"];
  return {
    verdicts: deliveries.map(() =>
      isOk ? { kind: "delivered" } : { kind: status === 410 ? "refused" : "failed", code: `http-${status}` },
    ),
    ...(status === 410 && { advice: { kind: "disable", reason: "gone" } }),
    ...(retryAfter !== undefined && { advice: { kind: "slow-down", forMs: Number(retryAfter) * 1_000 } }),
  };
}
