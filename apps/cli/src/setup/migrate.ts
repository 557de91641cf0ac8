import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { migrate as migrateLinks } from "@sluice/link-store/migrate.ts";

import type { Context } from "../context.ts";

/** A person waits. */
const waitMs = 5_000;

export async function migrate(context: Context): Promise<void> {
  await migratePostgres(context);
  await migrateClickStore(context);
}

export async function migratePostgres({ addresses, log, print }: Context): Promise<void> {
  await migrateLinks(await addresses.directDatabaseUrl(), { log });
  print("links: Postgres is at this version");
}

export async function migrateClickStore({ addresses, log, print }: Context): Promise<void> {
  const store = await migrateClicks(await addresses.clickStoreUrl(), { log, waitMs });
  print(`clicks: ${store} is at this version`);
}
