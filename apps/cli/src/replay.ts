import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { ServiceError } from "@sluice/service/service-error.ts";

import { environmentWith } from "./config.ts";
import type { Context } from "./context.ts";

/** Storing and passing on is the ingester's business; these are programs of its beside its service, with the same settings. */
const programs = new URL("../../click-ingester/src/", import.meta.url);

/** So that it does not overtake the ingester, which may be behind. */
const settledAfterMs = 300_000;

export interface Replaying {
  readonly from?: number;
  readonly to?: number;
  readonly rate?: number;
  readonly fanOut?: boolean;
  readonly owed?: boolean;
  readonly dryRun?: boolean;
}

export async function replay({ addresses }: Context, options: Replaying): Promise<void> {
  const {
    from,
    to = Date.now() - settledAfterMs,
    rate,
    fanOut = false,
    owed = false,
    dryRun = false,
  } = options;
  if (owed ? !fanOut || from !== undefined : from === undefined || dryRun)
    throw new ServiceError(
      "config",
      "say from when: --from <time>, with --fan-out or without; or --fan-out --owed, with --dry-run or without",
    );
  const EVENT_LOG_URL = await addresses.eventLogUrl();
  if (owed && !EVENT_LOG_URL.startsWith("journal:"))
    throw new ServiceError("config", "only a journal notes what it owes; EVENT_LOG_URL is of another log");
  if (!/^(?:journal|kafka):/.test(EVENT_LOG_URL))
    throw new ServiceError(
      "config",
      "only a journal or Kafka keeps what was read; this event log has nothing to replay",
    );
  const flags = [
    ...(owed ? [] : [`--from=${from}`, `--to=${to}`]),
    ...(fanOut && !owed ? ["--fan-out"] : []),
    ...(dryRun ? ["--dry-run"] : []),
    ...(rate === undefined ? [] : [`--rate=${rate}`]),
  ];
  const program = fileURLToPath(new URL(owed ? "replay-owed.ts" : "replay.ts", programs));
  const child = spawn(process.execPath, [program, ...flags], {
    env: environmentWith({
      EVENT_LOG_URL,
      CLICK_STORE_URL: await addresses.clickStoreUrl(),
      ...(fanOut && { DATABASE_URL: await addresses.databaseUrl() }),
    }),
    stdio: "inherit",
  });
  await once(child, "close");
  process.exitCode = child.exitCode ?? 1;
}
