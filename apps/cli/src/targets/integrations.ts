import type { NewTarget } from "@sluice/link-store/targets/target-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import { InvalidArgumentError } from "commander";

import type { Context } from "../context.ts";
import { fillIn, type Pair } from "./secret-input.ts";
import { createTarget, type Editing, editTarget, type Making } from "./target-making.ts";
import { openSettings } from "./target-settings.ts";

export const vendors = ["ga4", "mixpanel", "klaviyo", "meta"] as const;

interface Own {
  readonly set?: readonly Pair[];
  readonly unset?: readonly string[];
}

export async function createIntegration(
  context: Context,
  kind: (typeof vendors)[number],
  options: Own & Making,
): Promise<void> {
  const own: NewTarget = { kind, settings: await settingsOf(context, options) };
  await createTarget(context, own, options);
}

export async function editIntegration(context: Context, id: TargetId, options: Own & Editing): Promise<void> {
  const { set, unset = [] } = options;
  const changes = await settingsOf(context, options);
  const without = (settings: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => !unset.includes(name)));
  await editTarget(
    context,
    id,
    ({ settings }) =>
      set === undefined && unset.length === 0 ? {} : { settings: { ...without(settings), ...changes } },
    options,
  );
}

function settingsOf(context: Context, { set = [] }: Own): Promise<Readonly<Record<string, string>>> {
  const shown = set.find(({ name, value }) => value !== "-" && !openSettings.has(name));
  if (shown === undefined) return fillIn(context, "--set", set);
  throw new ServiceError(
    "config",
    `--set takes ${shown.name} from standard input, because it may be a secret: --set ${shown.name}=-`,
  );
}

/** `name=value`, unchecked. Throws InvalidArgumentError. */
export function parseSetting(text: string): Pair {
  const [, name = "", value = ""] = /^([\w-]+)=(.+)$/s.exec(text) ?? [];
  if (name === "")
    throw new InvalidArgumentError("takes name=value, or name=- for a line of standard input.");
  return { name, value };
}
