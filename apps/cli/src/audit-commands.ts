import { auditModes } from "@sluice/link-store/audit-store.ts";
import { Argument, type Command } from "commander";

import { exportAudit, setAuditMode } from "./audit.ts";
import type { Context } from "./context.ts";
import { reconcile } from "./reconcile.ts";
import { time } from "./time-range.ts";

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
  addTimes(program.command("reconcile"))
    .description("compare audit rows, table and numbers; exit status 1 when they differ")
    .action(async (times: Times) => {
      if (!(await reconcile(context, rangeOf(times)))) process.exitCode = 1;
    });
}

function addTimes(command: Command): Command {
  return command
    .requiredOption("--from <time>", "from this date or time on", time)
    .option("--to <time>", "up to this date or time; a minute ago without it", time);
}
