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
  behave(id: TargetId, behaviour: () => Behaviour): void;
  inFlight(id: TargetId): number;
  /** The most that ever were in flight. */
  most(id: TargetId): number;
  mostInAll(): number;
}

/** Endpoints that do as they are told. */
export function createReceivers(clock: Clock): Receivers {
  const behaviours = new Map<string, () => Behaviour>();
  const [inFlight, most] = [new Map<string, number>(), new Map<string, number>()];
  let [all, mostInAll] = [0, 0];
  return {
    behave: (id, behaviour) => behaviours.set(urlOf(id), behaviour),
    inFlight: (id) => inFlight.get(urlOf(id)) ?? 0,
    most: (id) => most.get(urlOf(id)) ?? 0,
    mostInAll: () => mostInAll,
    async send({ url }, signal) {
      const count = (inFlight.get(url) ?? 0) + 1;
      inFlight.set(url, count);
      most.set(url, Math.max(most.get(url) ?? 0, count));
      all += 1;
      mostInAll = Math.max(mostInAll, all);
      const reply = await answer(behaviours.get(url)?.() ?? hung, signal, clock);
      inFlight.set(url, (inFlight.get(url) ?? 0) - 1);
      all -= 1;
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
