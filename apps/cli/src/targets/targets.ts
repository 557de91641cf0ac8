import type { TargetId } from "@sluice/link-store/targets/target.ts";

import type { Context } from "../context.ts";
import { existingWorkspace, type Json } from "../open-links.ts";
import { openDeliveries, openTargets } from "../open-targets.ts";
import { plainText } from "../plain-text.ts";
import type { TargetGroup } from "./target-groups.ts";
import { jsonOf, lineOf, partLines } from "./target-text.ts";

export async function listTargets(
  context: Context,
  { prefix }: TargetGroup,
  { workspace, json }: Json & { readonly workspace: string },
): Promise<void> {
  const workspaceId = await existingWorkspace(context, workspace);
  await using targets = await openTargets(context);
  for (const target of await targets.list(workspaceId, Date.now())) {
    if (target.id.startsWith(prefix)) context.print(plainText(json ? jsonOf(target) : lineOf(target)));
  }
}

export async function showTarget(context: Context, id: TargetId, { json }: Json): Promise<void> {
  await using targets = await openTargets(context);
  const target = await targets.show(id, Date.now());
  await using deliveries = await openDeliveries(context);
  const [standing] = await deliveries.standings({ target: id, limit: 1 });
  if (json) return context.print(plainText(jsonOf(target, { standing })));
  context.print(id);
  for (const line of partLines(target, standing, Date.now())) context.print(plainText(line));
}

export async function deleteTarget(context: Context, id: TargetId, { json }: Json): Promise<void> {
  await using targets = await openTargets(context);
  await targets.delete(id);
  context.print(json ? JSON.stringify({ id, deleted: true }) : `${id}  (deleted)`);
}

export async function disableTarget(
  context: Context,
  id: TargetId,
  { reason, json }: Json & { readonly reason: string },
): Promise<void> {
  await using targets = await openTargets(context);
  await targets.disable(id, reason, Date.now());
  // Rejects when there is none.
  const target = await targets.show(id, Date.now());
  context.print(plainText(json ? jsonOf(target) : lineOf(target)));
}

export async function rotateSecret(
  context: Context,
  id: TargetId,
  { keep, json = false }: Json & { readonly keep?: number },
): Promise<void> {
  await using targets = await openTargets(context);
  const now = Date.now();
  const { secrets } = await targets.rotateSecret(id, { now, ...(keep !== undefined && { keepMs: keep }) });
  const [secret = ""] = secrets;
  context.print(json ? JSON.stringify({ id, secret }) : secret);
  context.note(
    "The secret is shown this once. Until the time of the old one is over, both sign each delivery.",
  );
}

export async function allowPrivate(
  context: Context,
  id: TargetId,
  { off = false, json }: Json & { readonly off?: boolean },
): Promise<void> {
  await using targets = await openTargets(context);
  await targets.allowPrivate(id, !off);
  const told = `${id}  (private networks ${off ? "not allowed" : "allowed: what they answer is not shown"})`;
  context.print(json ? JSON.stringify({ id, allowPrivate: !off }) : told);
}

/** Brings all credentials under the first key. Stopped at any point, it can be called again. */
export async function rotateKeys(context: Context, { json }: Json): Promise<void> {
  await using targets = await openTargets(context);
  const { changed, unreadable } = await targets.reencrypt();
  if (unreadable > 0) process.exitCode = 1;
  if (json) return context.print(JSON.stringify({ changed, unreadable }));
  context.print(`${changed} values encrypted anew${unreadable === 0 ? ": all are under the first key" : ""}`);
  if (unreadable > 0)
    context.print(`${unreadable} cannot be decrypted with any key of SECRET_KEYS, and stay as they are`);
}
