import type { PixelParts } from "@sluice/link-store/targets/target-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { addEditing, addMaking, addPrivate, addTargetCommands } from "./target-commands.ts";
import { idIn, pixels } from "./target-groups.ts";
import { createTarget, type Editing, editTarget, type Making } from "./target-making.ts";

type Own = Pick<PixelParts, "method" | "purpose">;

/** `sluice pixel …` */
export function addPixelCommands(command: Command, context: Context): void {
  addMaking(
    addOwn(command.command("create <url>").description("call a URL, with macros such as {click_id}")),
  ).action((url: string, options: Own & Making) =>
    createTarget(context, { kind: "pixel", url, ...ownOf(options) }, options),
  );
  addEditing(addOwn(command.command("edit").argument("<id>", "such as px_1", idIn(pixels))))
    .description("change what is named; the rest stays")
    .option("--url <url>", "where to; it has to be tested again")
    .action((id: TargetId, { url, ...options }: Own & Editing & { readonly url?: string }) =>
      editTarget(context, id, () => ({ ...ownOf(options), ...(url !== undefined && { url }) }), options),
    );
  addTargetCommands(command, context, pixels);
  addPrivate(command, context, pixels);
}

function addOwn(command: Command): Command {
  return command
    .addOption(new Option("--method <method>", "GET without it").choices(["GET", "POST"]))
    .addOption(
      new Option("--purpose <purpose>", "what for, for people").choices(["conversion", "retargeting"]),
    );
}

function ownOf({ method, purpose }: Own): Own {
  return { ...(method && { method }), ...(purpose && { purpose }) };
}
