import type { LinkStore } from "@sluice/link-store/link-store.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";

import type { Context } from "./context.ts";

export interface Json {
  readonly json?: boolean;
}

export async function openLinks({ addresses, log }: Context): Promise<LinkStore> {
  return openLinkStore(await addresses.databaseUrl(), { log });
}
