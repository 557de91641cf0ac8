import type { EndpointParts } from "@sluice/link-store/targets/target-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { InvalidArgumentError } from "commander";

import type { Context } from "../context.ts";
import { fillIn, type Pair } from "./secret-input.ts";
import { createTarget, type Editing, editTarget, type Making } from "./target-making.ts";

interface Own {
  readonly url?: string;
  readonly event?: readonly string[];
  readonly header?: readonly Pair[] | false;
}

export async function createEndpoint(context: Context, url: string, options: Own & Making): Promise<void> {
  const own = await partsOf(context, options);
  await createTarget(context, { kind: "webhook", ...own, url }, options);
}

export async function editEndpoint(context: Context, id: TargetId, options: Own & Editing): Promise<void> {
  const own = await partsOf(context, options);
  await editTarget(context, id, () => own, options);
}

async function partsOf(context: Context, { url, event, header }: Own): Promise<Partial<EndpointParts>> {
  return {
    ...(url !== undefined && { url }),
    ...(event && { eventTypes: event }),
    ...(header !== undefined && { headers: await fillIn(context, "--header", header || []) }),
  };
}

/** `name: value`, unchecked. Throws InvalidArgumentError. */
export function parseHeader(text: string): Pair {
  const [, name = "", value = ""] = /^([^:\s]+)\s*:\s*(\S.*?)\s*$/.exec(text) ?? [];
  if (name === "")
    throw new InvalidArgumentError("takes 'name: value', or 'name: -' for a line of standard input.");
  return { name, value };
}
