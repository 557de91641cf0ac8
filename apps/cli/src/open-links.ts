import { type LinkStore, LinkStoreError } from "@sluice/link-store/link-store.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";

import type { Context } from "./context.ts";

export interface Json {
  readonly json?: boolean;
}

export async function openLinks({ addresses, log }: Context): Promise<LinkStore> {
  return openLinkStore(await addresses.databaseUrl(), { log });
}

/** The id of a workspace; rejects with a LinkStoreError `not-found` when none has the name. */
export async function existingWorkspace(context: Context, name: string): Promise<number> {
  await using links = await openLinks(context);
  const id = await links.workspaceId(name);
  if (id === undefined) throw new LinkStoreError("not-found", `there is no workspace ${name}`);
  return id;
}
