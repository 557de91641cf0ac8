import type { ChangeFeed } from "@sluice/link-store/change-feed.ts";
import { keepRead } from "@sluice/link-store/keep-read.ts";
import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";
import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Channel, OpenTarget } from "../channels/channel.ts";
import type { Channels } from "../channels/channels.ts";
import { ChannelSettingsError } from "../channels/settings-error.ts";
import type { TargetMetrics } from "./metrics.ts";

/** A target that may be sent to, and how. */
export interface KnownTarget {
  readonly target: Target;
  readonly channel: Channel;
  readonly open: OpenTarget;
}

export interface KnownTargets extends AsyncDisposable {
  /** Resolves once they have been read for the first time, or when the signal given to `followTargets` aborts. */
  readonly read: Promise<void>;
  of(id: TargetId): KnownTarget | undefined;
  /** Those of a workspace, whatever they want. */
  in(workspaceId: number): readonly KnownTarget[];
}

export interface TargetsOptions {
  /** All that are verified and not disabled. */
  readonly list: () => Promise<readonly Target[]>;
  readonly channels: Channels;
  /** Not in any table: the operator's own. */
  readonly own: readonly Target[];
  readonly changes: Pick<ChangeFeed, "onChange">;
  readonly health: Pick<Health, "degraded">;
  readonly metrics: TargetMetrics;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/** Keeps all targets in memory, as `keepRead` does. One whose settings its channel cannot read is left out, and said. */
export function followTargets(options: TargetsOptions): KnownTargets {
  const { list, own, metrics } = options;
  let byId: ReadonlyMap<TargetId, KnownTarget> = new Map();
  let byWorkspace: ReadonlyMap<number, readonly KnownTarget[]> = new Map();
  const kept = keepRead({
    ...options,
    name: "targets",
    async read() {
      const known = openAll([...(await list()), ...own], options);
      byId = new Map(known.map((each) => [each.target.id, each]));
      byWorkspace = Map.groupBy(known, ({ target }) => target.workspaceId);
      metrics.targets.set(known.length);
    },
  });
  const age = setInterval(() => metrics.age.set(kept.ageMs() / 1_000), 1_000).unref();
  return {
    read: kept.read,
    of: (id) => byId.get(id),
    in: (workspaceId) => byWorkspace.get(workspaceId) ?? [],
    async [Symbol.asyncDispose]() {
      clearInterval(age);
      await kept[Symbol.asyncDispose]();
    },
  };
}

function openAll(targets: readonly Target[], { channels, metrics, log }: TargetsOptions): KnownTarget[] {
  let unreadable = 0;
  const known = targets.flatMap((target) => {
    const channel = channels[target.kind];
    try {
      return [{ target, channel, open: channel.open(target) }];
    } catch (error) {
      if (!(error instanceof ChannelSettingsError)) throw error;
      unreadable += 1;
      log.warn({ target: target.id, reason: error.message }, "a target's settings cannot be read");
      return [];
    }
  });
  metrics.unreadable.set(unreadable);
  return known;
}
