import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { type Asked, printDeliveries } from "../deliveries/delivery-log.ts";
import { replayTarget } from "../deliveries/target-replay.ts";
import type { Json } from "../open-links.ts";
import { time } from "../time-range.ts";
import { wholeNumber } from "../whole-number.ts";
import { idIn, type TargetGroup } from "./target-groups.ts";
import { addPartRemovals, addParts } from "./target-parts.ts";
import { testTarget } from "./target-tests.ts";
import { allowPrivate, deleteTarget, disableTarget, listTargets, showTarget } from "./targets.ts";

/** What endpoints, integrations and pixels have in common; docs/webhooks.md. */
export function addTargetCommands(command: Command, context: Context, group: TargetGroup): void {
  const { name, prefix } = group;
  const one = (verb: string) => command.command(verb).argument("<id>", `such as ${prefix}_1`, idIn(group));
  command
    .command("list")
    .description("all of a workspace, and which of them get nothing")
    .option("--workspace <name>", "whose", "default")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof listTargets>[2]) => listTargets(context, group, options));
  one("show")
    .description("all of it, and what waits for it; secrets are not shown")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Json) => showTarget(context, id, options));
  one("delete")
    .description("with all that waits for it")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Json) => deleteTarget(context, id, options));
  one("test")
    .description("send it a test; exit status 1 when that fails")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Json) => testTarget(context, id, options));
  one("enable")
    .description("send it a test, and when that succeeds, what waits for it and what comes")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Json) => testTarget(context, id, { ...options, enable: true }));
  one("disable")
    .description("send it nothing more; what waits stays, what comes meanwhile is not kept for it")
    .option("--reason <text>", "said to whoever asks", "disabled from the command line")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Parameters<typeof disableTarget>[2]) =>
      disableTarget(context, id, options),
    );
  addDeliveryCommands(one, context, name);
}

function addDeliveryCommands(
  one: (verb: string) => Command,
  context: Context,
  name: TargetGroup["name"],
): void {
  one("deliveries")
    .description("its delivery log, the latest first")
    .addOption(new Option("--outcome <outcome>", "only these").choices(outcomes))
    .option("--event <id>", "only those of this event")
    .option("--from <time>", "from this date or time on; 30 days back without it", time)
    .option("--to <time>", "up to this date or time; now without it", time)
    .addOption(
      new Option("--dead", "instead, what is not tried any more").conflicts(["outcome", "event", "gaps"]),
    )
    .addOption(
      new Option("--gaps", "instead, the times of which not all was kept for it").conflicts([
        "outcome",
        "event",
      ]),
    )
    .option("--limit <count>", "at most so many", wholeNumber, 50)
    .option("--json", "print JSON, a line each")
    .action((id: TargetId, options: Asked) => printDeliveries(context, id, options));
  one("replay")
    .description(`send the ${name} clicks of a time again, under the same ids`)
    .requiredOption("--from <time>", "clicks of this date or time, or later", time)
    .option("--to <time>", "clicks before this date or time; now without it", time)
    .option("--failed", "only what is not tried any more")
    .option("--dry-run", "change nothing, and say how many there would be")
    .addOption(
      new Option("--rate <count>", "at most so many a second").argParser(wholeNumber).conflicts("failed"),
    )
    .option("--json", "print JSON")
    .action((id: TargetId, options: Parameters<typeof replayTarget>[2]) =>
      replayTarget(context, id, options),
    );
}

/** The options of every `create`. */
export function addMaking(command: Command): Command {
  return addParts(command)
    .option("--workspace <name>", "to whom it belongs", "default")
    .option("--no-test", "do not send it a test now; it gets nothing until one succeeds")
    .option("--json", "print JSON");
}

/** The options of every `edit`. */
export function addEditing(command: Command): Command {
  return addPartRemovals(addParts(command))
    .option("--no-test", "do not send it a test now, where it needs one")
    .option("--json", "print JSON");
}

/** `allow-private`. */
export function addPrivate(command: Command, context: Context, group: TargetGroup): void {
  command
    .command("allow-private")
    .argument("<id>", `such as ${group.prefix}_1`, idIn(group))
    .description("let it be in a private network; for whoever runs Sluice, not for its customers")
    .option("--off", "not any more")
    .option("--json", "print JSON")
    .action((id: TargetId, options: Parameters<typeof allowPrivate>[2]) =>
      allowPrivate(context, id, options),
    );
}

const outcomes = ["delivered", "failed", "refused", "unknown", "skipped"];
