import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { type Command, InvalidArgumentError } from "commander";

import type { Context } from "../context.ts";
import { printWorst } from "../deliveries/worst.ts";
import { repeated } from "../repeated.ts";
import { time } from "../time-range.ts";
import { wholeNumber } from "../whole-number.ts";
import { createEndpoint, editEndpoint, parseHeader } from "./endpoints.ts";
import { addEditing, addMaking, addPrivate, addTargetCommands } from "./target-commands.ts";
import { endpoints, idIn } from "./target-groups.ts";
import { rotateSecret } from "./targets.ts";

/** `sluice endpoint …` */
export function addEndpointCommands(command: Command, context: Context): void {
  addMaking(
    addOwn(command.command("create <url>").description("send events to a server as signed webhooks")),
  ).action((url: string, options: Parameters<typeof createEndpoint>[2]) =>
    createEndpoint(context, url, options),
  );
  addEditing(addOwn(command.command("edit").argument("<id>", "such as ep_1", idIn(endpoints))))
    .description("change what is named; the rest stays")
    .option("--url <url>", "where to; it has to be tested again")
    .option("--no-header", "none any more")
    .action((id: TargetId, options: Parameters<typeof editEndpoint>[2]) =>
      editEndpoint(context, id, options),
    );
  addTargetCommands(command, context, endpoints);
  addPrivate(command, context, endpoints);
  command
    .command("rotate")
    .argument("<id>", "such as ep_1", idIn(endpoints))
    .description("a new secret to sign with; the old one signs as well for a while")
    .option("--keep <hours>", "for so many hours; 24 without it, 0 for not at all", hours)
    .option("--json", "print JSON")
    .action((id: TargetId, options: Parameters<typeof rotateSecret>[2]) =>
      rotateSecret(context, id, options),
    );
  command
    .command("worst")
    .description("targets of any kind that fail most, and what waits for them")
    .option("--workspace <name>", "only of this one")
    .option("--from <time>", "attempts of this date or time, or later; a day back without it", time)
    .option("--limit <count>", "at most so many", wholeNumber, 20)
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof printWorst>[1]) => printWorst(context, options));
}

function addOwn(command: Command): Command {
  return command
    .option("--event <type>", "link.clicked without it, or endpoint.disabled; repeatable", repeated(String))
    .option(
      "--header <header>",
      "'name: value', sent with each; 'name: -' reads the value from standard input; repeatable",
      repeated(parseHeader),
    );
}

/** In ms. */
function hours(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError("takes a whole number of hours from 0 to 999.");
  return Number(text) * 3_600_000;
}
