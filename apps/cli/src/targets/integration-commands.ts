import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { Argument, type Command } from "commander";

import type { Context } from "../context.ts";
import { repeated } from "../repeated.ts";
import { createIntegration, editIntegration, parseSetting, vendors } from "./integrations.ts";
import { addEditing, addMaking, addTargetCommands } from "./target-commands.ts";
import { idIn, integrations } from "./target-groups.ts";

/** `sluice integration …` */
export function addIntegrationCommands(command: Command, context: Context): void {
  addMaking(addOwn(command.command("create").addArgument(new Argument("<vendor>").choices(vendors))))
    .description("pass clicks on to a vendor")
    .action(
      (vendor: Parameters<typeof createIntegration>[1], options: Parameters<typeof createIntegration>[2]) =>
        createIntegration(context, vendor, options),
    );
  addEditing(addOwn(command.command("edit").argument("<id>", "such as in_1", idIn(integrations))))
    .description("change what is named; the rest stays")
    .option("--unset <name>", "take a setting away; repeatable", repeated(String))
    .action((id: TargetId, options: Parameters<typeof editIntegration>[2]) =>
      editIntegration(context, id, options),
    );
  addTargetCommands(command, context, integrations);
}

function addOwn(command: Command): Command {
  return command.option(
    "--set <setting>",
    "name=value of docs/forwarding.md; name=- reads a secret from standard input; repeatable",
    repeated(parseSetting),
  );
}
