import { randomBytes } from "node:crypto";
import { invalid } from "../invalid.ts";
import type { Query } from "../postgres.ts";
import {
  drawTargetId,
  findForeignLinks,
  insertTarget,
  placeOf,
  type TargetColumns,
  type TargetRow,
  updateTarget,
} from "../queries/targets.ts";
import type { Keyring } from "./keyring.ts";
import { type CheckedTarget, checkKind, checkTarget } from "./target-checks.ts";
import { targetId, type TargetPrefix } from "./target-id.ts";
import type { NewTarget, TargetChanges, TargetQuotas } from "./target-store.ts";
import type { TargetId, TargetKind } from "./target.ts";

interface Creation {
  readonly workspaceId: number;
  readonly target: NewTarget;
  readonly quotas: TargetQuotas;
}

export async function createTarget(
  query: Query,
  keys: Keyring,
  { workspaceId, target, quotas }: Creation,
): Promise<TargetId> {
  const { kind: given, ...parts } = target;
  const kind = checkKind(given);
  const checked = checkTarget(kind, parts);
  const prefix = prefixOf(kind);
  const needed = prefix === "in" ? "settings" : "url";
  if (checked[needed] === undefined) throw invalid(needed, "something", undefined);
  await checkLinks(query, workspaceId, checked);
  const id = await drawTargetId(query, prefix);
  const seal = sealer(keys, prefix, id, workspaceId);
  const columns = {
    id,
    workspace_id: workspaceId,
    kind,
    description: "",
    event_types: ["link.clicked"],
    method: "GET",
    purpose: "conversion",
    ...columnsOf({ filter: {}, ...checked }, seal),
    ...(prefix === "ep" && { secret: seal(newSecret(), "secret") }),
  };
  const [quota, what] = {
    ep: [quotas.endpoints, "endpoints"] as const,
    in: [quotas.integrations, "integrations"] as const,
    px: [quotas.pixels, "pixels"] as const,
  }[prefix];
  if (!(await insertTarget(query, prefix, columns, quota))) {
    throw invalid("workspaceId", `a workspace with fewer than ${quota} ${what}`, workspaceId);
  }
  return targetId(prefix, id);
}

export async function editTarget(
  query: Query,
  keys: Keyring,
  { prefix, id, kind, workspace_id: workspaceId }: TargetRow,
  changes: TargetChanges,
): Promise<void> {
  const checked = checkTarget(kind, changes);
  await checkLinks(query, workspaceId, checked);
  await updateTarget(query, prefix, id, columnsOf(checked, sealer(keys, prefix, id, workspaceId)));
}

/** Standard Webhooks: `whsec_` and 24 to 64 random bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function prefixOf(kind: TargetKind): TargetPrefix {
  if (kind === "webhook") return "ep";
  return kind === "pixel" ? "px" : "in";
}

async function checkLinks(query: Query, workspaceId: number, { filter }: CheckedTarget): Promise<void> {
  if (filter?.linkIds === undefined) return;
  const foreign = await findForeignLinks(query, workspaceId, filter.linkIds);
  if (foreign.length > 0) throw invalid("filter.linkIds", "links of the workspace", foreign);
}

type Seal = (text: string, column: string) => string;

/** As JSON for Postgres has it. */
function sealer(keys: Keyring, prefix: TargetPrefix, id: number, workspaceId: number): Seal {
  return (text, column) =>
    `\\x${keys.encrypt(text, placeOf(prefix, id, workspaceId, column)).toString("hex")}`;
}

/** Only of the parts that are there. */
function columnsOf(checked: CheckedTarget, seal: Seal): TargetColumns {
  const { filter, headers, settings, eventTypes, maxInFlight, maxPerSecond, ...plain } = checked;
  return {
    ...plain,
    ...(eventTypes && { event_types: eventTypes }),
    ...(maxInFlight !== undefined && { max_in_flight: maxInFlight }),
    ...(maxPerSecond !== undefined && { max_per_second: maxPerSecond }),
    ...(headers && { headers: seal(JSON.stringify(headers), "headers") }),
    ...(settings !== undefined && { settings: seal(settings, "settings") }),
    ...(filter && {
      link_ids: filter.linkIds ?? null,
      domains: filter.domains ?? null,
      countries: filter.countries ?? null,
      include_bots: filter.includeBots ?? false,
      include_opted_out: filter.includeOptedOut ?? false,
    }),
  };
}
