import { openErasures } from "@sluice/click-store/erasures.ts";

import type { Context } from "../context.ts";
import { existingWorkspace } from "../open-links.ts";

/** Says for how long clicks of a workspace are kept, having set it where `days` is given; 0 for ever. */
export async function retention(context: Context, name: string, days: number | undefined): Promise<void> {
  const workspaceId = await existingWorkspace(context, name);
  await using erasures = await openErasures(await context.addresses.clickStoreUrl());
  const signal = AbortSignal.timeout(30_000);
  if (days !== undefined) await erasures.setRetention(workspaceId, days, signal);
  const kept = (await erasures.retention(signal)).get(workspaceId);
  context.print(`${name}: ${kept === undefined ? "forever" : `${kept} days`}`);
  if (days !== undefined && days > 0) context.note("The ingester erases what is older within two hours.");
}
