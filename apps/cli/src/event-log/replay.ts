import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { ServiceError } from "@sluice/service/service-error.ts";

import { environmentWith } from "../config.ts";
import type { Context } from "../context.ts";

/** Storing and passing on is the ingester's business; these are programs of its beside its service, with the same settings. */
const programs = new URL("../../../click-ingester/src/", import.meta.url);

/** So that it does not overtake the ingester, which may be behind. */
const settledAfterMs = 300_000;

export interface Replaying {
  readonly from?: number;
  readonly to?: number;
  readonly rate?: number;
  readonly fanOut?: boolean;
  readonly owed?: boolean;
  /** The URL of an archive that is read instead of the log. */
  readonly fromArchive?: string;
  readonly dryRun?: boolean;
}

export async function replay({ addresses }: Context, options: Replaying): Promise<void> {
  const {
    from,
    rate,
    fanOut = false,
    owed = false,
    dryRun = false,
    fromArchive,
    to = fromArchive === undefined ? Date.now() - settledAfterMs : undefined,
  } = options;
  const isSaid = owed
    ? fanOut && from === undefined && fromArchive === undefined
    : fromArchive !== undefined || (from !== undefined && !dryRun);
  if (!isSaid)
    throw new ServiceError(
      "config",
      "say from when: --from <time>, with --fan-out or without; or --from-archive <url>; or --fan-out --owed, with --dry-run or without",
    );
  const EVENT_LOG_URL = await addresses.eventLogUrl();
  if (owed && !EVENT_LOG_URL.startsWith("journal:"))
    throw new ServiceError("config", "only a journal notes what it owes; EVENT_LOG_URL is of another log");
  if (fromArchive === undefined && !/^(?:journal|kafka):/.test(EVENT_LOG_URL))
    throw new ServiceError(
      "config",
      "only a journal or Kafka keeps what was read; this event log has nothing to replay",
    );
  const flags = [
    ...(owed || from === undefined ? [] : [`--from=${from}`]),
    ...(owed || to === undefined ? [] : [`--to=${to}`]),
    ...(fromArchive === undefined ? [] : [`--from-archive=${fromArchive}`]),
    ...(fanOut && !owed && !dryRun ? ["--fan-out"] : []),
    ...(dryRun && owed ? ["--dry-run"] : []),
    ...(rate === undefined ? [] : [`--rate=${rate}`]),
  ];
  const name = owed ? "replay-owed.ts" : dryRun ? "check-archive.ts" : "replay.ts";
  const program = fileURLToPath(new URL(name, programs));
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
