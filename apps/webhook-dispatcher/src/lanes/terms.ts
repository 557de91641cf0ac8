import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { createHosts, type Host, type Hosts } from "./hosts.ts";
import type { Lane } from "./lane.ts";
import type { Addressee, LanesOptions } from "./lanes.ts";
import type { Pace } from "./share.ts";

/** What holds for a lane at this moment. */
export interface Terms {
  readonly workspaceId: number;
  readonly isVendor: boolean;
  readonly pace: Pace;
  /** Requests in flight, at the target's best. */
  readonly cap: number;
  /** Now: one while it has not answered or hangs, so that a hung endpoint is met with one request rather than ten. */
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
      const most = target.maxInFlight ?? (isVendor ? limits.integrationsPerWorkspace : limits.inFlight);
      const cap = divided(most);
      return {
        workspaceId: target.workspaceId,
        isVendor,
        pace: lane.pace(now, limits),
        cap,
        inFlight: isUnproven(lane) ? 1 : lane.breaker.narrowed(cap),
        perSecond: (target.maxPerSecond ?? limits.perSecond) / alive(),
        host: isVendor ? undefined : hosts.of(open.host),
        hostPerSecond: hostPerSecond(),
        limitMs: isVendor ? limits.integrationMs : limits.sendMs,
      };
    },
  };
}

/** Not heard of yet; or its last answers came late or not at all, and were failures. */
function isUnproven({ speed, breaker }: Lane): boolean {
  return speed.averageMs === undefined || (speed.isSlow && !breaker.isCalm);
}

function isIntegration(id: TargetId): boolean {
  return id.startsWith("in_");
}
