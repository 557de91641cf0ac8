import type { Target } from "@sluice/link-store/targets/target.ts";
import type { KnownTargets } from "../targets/known-targets.ts";

export interface OperatorNotice {
  readonly NOTICE_URL?: string | undefined;
  readonly NOTICE_SECRET?: string | undefined;
}

/**
 * The operator's own endpoint, which is in the configuration and not in a table: it is told of every endpoint that is
 * disabled, may stand in the operator's network, and is never disabled itself.
 */
export function operatorTarget({ NOTICE_URL, NOTICE_SECRET }: OperatorNotice): readonly Target[] {
  if (NOTICE_URL === undefined || NOTICE_SECRET === undefined) return [];
  return [
    {
      id: operatorId,
      kind: "webhook",
      // Nobody's, so that no click of anybody's matches.
      workspaceId: 0,
      description: "the operator's notices",
      eventTypes: ["endpoint.disabled"],
      filter: { includeBots: false, includeOptedOut: false },
      url: NOTICE_URL,
      method: "POST",
      headers: {},
      secrets: [NOTICE_SECRET],
      settings: {},
      allowPrivate: true,
      maxInFlight: undefined,
      maxPerSecond: undefined,
      verified: true,
      disabled: undefined,
    },
  ];
}

export const operatorId = "ep_0";

/** Who is told that a target is disabled: the others of its workspace that want to know, and the operator. */
export function audienceOf(
  { id, workspaceId }: Target,
  known: Pick<KnownTargets, "in" | "of">,
): readonly Target[] {
  const operator = known.of(operatorId);
  return [...known.in(workspaceId), ...(operator === undefined ? [] : [operator])]
    .map(({ target }) => target)
    .filter((target) => target.id !== id && target.eventTypes.includes("endpoint.disabled"));
}
