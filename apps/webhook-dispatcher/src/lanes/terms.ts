import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { createHosts, type Host, type Hosts } from "./hosts.ts";
import type { Lane } from "./lane.ts";
import type { Addressee, LanesOptions } from "./lanes.ts";

/** What holds for a lane at this moment. */
export interface Terms {
  readonly workspaceId: number;
  readonly isVendor: boolean;
  readonly slow: boolean;
  /** Requests in flight. */
  readonly inFlight: number;
  readonly perSecond: number;
  /** Absent for vendors: nobody can aim those at a victim, and their workspaces must not share a cap. */
  readonly host: Host | undefined;
  readonly hostPerSecond: number;
  /** Of one request, ms. */
  readonly limitMs: number;
}

export interface Bounds {
  readonly hosts: Hosts;
  of(lane: Lane, to: Addressee, now: number): Terms;
  /** A cap as it is here, at least 1. */
  divided(cap: number): number;
}

/** Caps and rates, divided by the dispatchers alive. */
export function createBounds({ limits, members }: Pick<LanesOptions, "limits" | "members">): Bounds {
  const alive = () => Math.max(1, members());
  const divided = (cap: number) => Math.max(1, Math.floor(cap / alive()));
  const hostPerSecond = () => limits.hostPerSecond / alive();
  const hosts = createHosts(() => divided(limits.hostInFlight), hostPerSecond);
  return {
    hosts,
    divided,
    of(lane, { target, open }, now) {
      const isVendor = isIntegration(target.id);
      const inFlight = target.maxInFlight ?? (isVendor ? limits.integrationsPerWorkspace : limits.inFlight);
      return {
        workspaceId: target.workspaceId,
        isVendor,
        slow: lane.isSlow(now, limits.slowMs),
        inFlight: lane.breaker.narrowed(divided(inFlight)),
        perSecond: (target.maxPerSecond ?? limits.perSecond) / alive(),
        host: isVendor ? undefined : hosts.of(open.host),
        hostPerSecond: hostPerSecond(),
        limitMs: isVendor ? limits.integrationMs : limits.sendMs,
      };
    },
  };
}

function isIntegration(id: TargetId): boolean {
  return id.startsWith("in_");
}
