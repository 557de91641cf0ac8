import { sleep } from "@sluice/service/retry.ts";
import { z } from "zod";
import type { PubSub } from "./pub-sub.ts";

// The live feed: clicks, as they come, to whoever is watching a link or a workspace. Nothing is published that nobody
// has asked for in the last half minute: a watcher says so again and again, and has gone when it no longer does.

/** Where watchers say what they watch. All other channels of the feed are named by `channelOf`. */
export const leaseChannel = "sluice_live";
/** How long one saying holds. */
export const leaseMs = 30_000;
/** So that a publisher that has just begun knows soon, and five in a row may be lost. */
const renewEveryMs = 5_000;

const count = z.int().min(1);

/** A link, or all of a workspace. */
export const Watched = z.object({ workspaceId: count, linkId: z.exactOptional(count) });
export type Watched = z.output<typeof Watched>;

export function channelOf({ workspaceId, linkId }: Watched): string {
  return linkId === undefined ? `${leaseChannel}:workspace:${workspaceId}` : `${leaseChannel}:link:${linkId}`;
}

/** What is shown of a click: nothing by which a visitor could be told from another. */
export const LiveClick = z.object({
  event_id: z.string(),
  ts: z.number(),
  workspace_id: z.number(),
  link_id: z.number(),
  domain: z.string(),
  slug: z.string(),
  country: z.string(),
  device: z.string(),
  browser: z.string(),
  os: z.string(),
  referrer_domain: z.string(),
  qr: z.boolean(),
  is_bot: z.boolean(),
});
export type LiveClick = z.output<typeof LiveClick>;

/** One message of the feed. */
export const LiveMessage = z.object({
  clicks: z.array(LiveClick),
  /** So many more there were, too many to be shown. */
  dropped: z.int().min(0),
});
export type LiveMessage = z.output<typeof LiveMessage>;

export type LiveNotice =
  | ({ readonly kind: "clicks" } & LiveMessage)
  /** Clicks may have been missed before this one. */
  | { readonly kind: "gap" };

/**
 * Watches until the signal aborts. Begins with a gap, and says so each time that the connection was away; clicks may
 * come twice. Nobody is told when a watcher stops: what is published for it ends within `leaseMs`.
 */
export async function* watchClicks(
  pubSub: PubSub,
  watched: Watched,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<LiveNotice, void> {
  const lease = JSON.stringify(watched);
  const left = new AbortController();
  const over = AbortSignal.any([signal, left.signal]);
  // One that is not heard is renewed soon, or with the next connection.
  const say = () => pubSub.publish(leaseChannel, lease).catch(() => {});
  async function renew(): Promise<void> {
    while (!over.aborted) {
      await sleep(renewEveryMs, over).catch(() => {});
      if (!over.aborted) await say();
    }
  }
  const renewing = renew();
  try {
    for await (const notice of pubSub.subscribe(channelOf(watched), { signal: over })) {
      if (notice.kind === "gap") {
        await say();
        yield notice;
        continue;
      }
      const message = parse(LiveMessage, notice.message);
      if (message !== undefined) yield { kind: "clicks", ...message };
    }
  } finally {
    left.abort();
    await renewing;
  }
}

/** What a message says; `undefined` for one of another version, or of somebody who has no business here. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  message: string,
): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
