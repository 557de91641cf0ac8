import { auditModes } from "@sluice/link-store/audit-store.ts";
import { Argument, type Command } from "commander";

import type { Context } from "../context.ts";
import { time } from "../time-range.ts";
import { exportAudit, setAuditMode } from "./audit.ts";
import { reconcileRuns } from "./reconcile-runs.ts";
import { reconcile } from "./reconcile.ts";

interface Times {
  readonly from: number;
  readonly to?: number;
}

/** What is younger may still be on its way. */
const settledAfterMs = 60_000;

function rangeOf({ from, to = Date.now() - settledAfterMs }: Times) {
  return { fromTs: from, toTs: to };
}

/** `sluice audit …` and `sluice reconcile`. */
export function addAuditCommands(program: Command, context: Context): void {
  const audit = program.command("audit").description("rows that prove clicks, docs/audit.md");
  audit
    .command("set <workspace>")
    .description("whether a click of the workspace has a row before it is answered")
    .addArgument(new Argument("<mode>", "what a visitor gets without one").choices(["off", ...auditModes]))
    .action((workspace: string, mode: Parameters<typeof setAuditMode>[2]) =>
      setAuditMode(context, workspace, mode),
    );
  addTimes(audit.command("export"))
    .description("all rows, oldest first, a JSON object a line")
    .action((times: Times) => exportAudit(context, rangeOf(times)));
  program
    .command("reconcile")
    .description(
      "look for lost clicks, or compare all of a time with audit rows; exit status 1 when any is missing",
    )
    .option("--from <time>", "compare everything from this date or time on", time)
    .option("--to <time>", "up to this date or time; a minute ago without it", time)
    .option("--accept", "take what is missing for known: it alarms nobody any more")
    .action(async ({ from, accept = false, ...times }: Partial<Times> & { readonly accept?: boolean }) => {
      const well =
        from === undefined
          ? await reconcileRuns(context, accept)
          : await reconcile(context, rangeOf({ from, ...times }));
      if (!well) process.exitCode = 1;
    });
}

function addTimes(command: Command): Command {
  return command
    .requiredOption("--from <time>", "from this date or time on", time)
    .option("--to <time>", "up to this date or time; a minute ago without it", time);
}
