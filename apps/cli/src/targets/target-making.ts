import type { NewTarget, TargetChanges } from "@sluice/link-store/targets/target-store.ts";
import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";

import type { Context } from "../context.ts";
import { existingWorkspace, type Json } from "../open-links.ts";
import { openTargets } from "../open-targets.ts";
import { plainText } from "../plain-text.ts";
import { type PartOptions, partsOf } from "./target-parts.ts";
import { testFresh } from "./target-tests.ts";
import { jsonOf, lineOf } from "./target-text.ts";

export interface Editing extends PartOptions, Json {
  /** False not to. */
  readonly test: boolean;
}

export interface Making extends Editing {
  readonly workspace: string;
}

/** `own` is what only a target of its kind has. */
export async function createTarget(context: Context, own: NewTarget, options: Making): Promise<void> {
  const workspaceId = await existingWorkspace(context, options.workspace);
  const parts = await partsOf(context, options, { workspaceId });
  await using targets = await openTargets(context);
  const made = await targets.create(workspaceId, { ...own, ...parts }, Date.now());
  const [secret] = made.secrets;
  if (options.json) context.print(plainText(jsonOf(made, secret === undefined ? {} : { secret })));
  else for (const line of [made.id, secret]) if (line !== undefined) context.print(line);
  if (secret !== undefined) context.note("The secret is shown this once.");
  await testFresh(targets, context, made, options.test);
}

/** `changed` gives what is to change of what only a target of its kind has. */
export async function editTarget(
  context: Context,
  id: TargetId,
  changed: (current: Target) => TargetChanges,
  options: Editing,
): Promise<void> {
  await using targets = await openTargets(context);
  const current = await targets.show(id, Date.now());
  const changes = { ...(await partsOf(context, options, current)), ...changed(current) };
  const edited = await targets.edit(id, changes, Date.now());
  context.print(plainText(options.json ? jsonOf(edited) : lineOf(edited)));
  const isFresh = !edited.verified || changes.settings !== undefined;
  if (isFresh) await testFresh(targets, context, edited, options.test);
}
