import { randomBytes } from "node:crypto";

import { type Analysts, openAnalysts } from "@sluice/click-store/analysts.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import { existingWorkspace, type Json } from "../open-links.ts";

/** Prints the user and its password, which nobody can read again. */
export async function createAnalyst(
  context: Context,
  name: string,
  { workspace, json }: Json & { readonly workspace: string },
): Promise<void> {
  await using analysts = await analystsOf(context, name);
  const workspaceId = await existingWorkspace(context, workspace);
  const password = randomBytes(24).toString("base64url");
  const { user } = await analysts.create(name, workspaceId, password);
  if (json) context.print(JSON.stringify({ user, workspaceId, password }));
  else for (const line of [user, password]) context.print(line);
  context.note("the password is shown this once");
}

export async function dropAnalyst(context: Context, name: string): Promise<void> {
  await using analysts = await analystsOf(context, name);
  await analysts.drop(name);
  context.print(`${name} is no analyst any more`);
}

export async function listAnalysts(context: Context, { json }: Json): Promise<void> {
  await using analysts = await analystsOf(context);
  for (const analyst of await analysts.list()) {
    const { user, workspaceId } = analyst;
    context.print(json ? JSON.stringify(analyst) : `${user}  workspace ${workspaceId}`);
  }
}

async function analystsOf({ addresses }: Context, name?: string): Promise<Analysts> {
  if (name !== undefined && !/^[a-z0-9_]{1,40}$/.test(name)) {
    throw new ServiceError("config", `name takes 1 to 40 of a-z, 0-9 and _; got ${JSON.stringify(name)}`);
  }
  const analysts = await openAnalysts(await addresses.clickStoreUrl());
  if (analysts !== undefined) return analysts;
  throw new ServiceError("config", "CLICK_STORE_URL takes a ClickHouse here: Postgres has no such users");
}
