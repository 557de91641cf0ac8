import { intervals } from "@sluice/click-store/statistics/buckets.ts";
import { dimensions } from "@sluice/click-store/statistics/dimensions.ts";
import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { time } from "../time-range.ts";
import { wholeNumber } from "../whole-number.ts";
import { showStatistics } from "./stats.ts";

/** `sluice stats`; docs/analytics.md. */
export function addStatsCommand(program: Command, context: Context): void {
  program
    .command("stats <slug>")
    .description("clicks and visitors of a link, over time or by value")
    .option("--domain <domain>", "its domain", "localhost")
    .option("--from <time>", "from this date or time on; 30 days before the end without it", time)
    .option("--to <time>", "up to this date or time; now without it", time)
    .addOption(new Option("--interval <interval>", "a line for each").choices(intervals).default("day"))
    .option("--zone <zone>", "the time zone in which days begin, such as Europe/Berlin", "UTC")
    .addOption(
      new Option("--by <dimension>", "a line for each value instead, the most clicks first").choices(
        dimensions,
      ),
    )
    .option("--limit <count>", "at most so many values", wholeNumber, 10)
    .option("--json", "print JSON, a line each")
    .action((slug: string, options: Parameters<typeof showStatistics>[2]) =>
      showStatistics(context, slug, options),
    );
}
