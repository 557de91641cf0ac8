import { z } from "zod";
import { placeOf, type TargetRow } from "../queries/targets.ts";
import type { Keyring } from "./keyring.ts";
import { targetId } from "./target-id.ts";
import type { Target } from "./target.ts";

const Headers = z.record(z.string(), z.string());
const Settings = z.record(z.string(), z.unknown());

/** A row with what is encrypted in it decrypted. Throws an UnreadableSecret. */
export function openRow(keys: Keyring, row: TargetRow, now: number): Target {
  const open = (value: Buffer | null, column: string): string | undefined =>
    value === null ? undefined : keys.decrypt(value, placeOf(row.prefix, row.id, row.workspace_id, column));
  const { link_ids: linkIds, domains, countries } = row;
  const old = (row.old_secret_until ?? 0) > now ? row.old_secret : null;
  return {
    id: targetId(row.prefix, row.id),
    kind: row.kind,
    workspaceId: row.workspace_id,
    description: row.description,
    eventTypes: row.event_types,
    filter: {
      ...(linkIds && { linkIds }),
      ...(domains && { domains }),
      ...(countries && { countries }),
      includeBots: row.include_bots,
      includeOptedOut: row.include_opted_out,
    },
    url: row.url,
    method: row.method,
    headers: Headers.parse(JSON.parse(open(row.headers, "headers") ?? "{}")),
    secrets: [open(row.secret, "secret"), open(old, "secret")].filter((secret) => secret !== undefined),
    settings: Settings.parse(JSON.parse(open(row.settings, "settings") ?? "{}")),
    allowPrivate: row.allow_private,
    maxInFlight: row.max_in_flight ?? undefined,
    maxPerSecond: row.max_per_second ?? undefined,
    verified: row.verified,
    disabled:
      row.disabled_at === null
        ? undefined
        : { at: Math.round(row.disabled_at), reason: row.disabled_reason ?? "" },
  };
}
