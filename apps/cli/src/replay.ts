import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { ServiceError } from "@sluice/service/service-error.ts";

import { environmentWith } from "./config.ts";
import type { Context } from "./context.ts";

/** Storing clicks is the ingester's business; this is a program of its beside its service, with the same settings. */
const program = fileURLToPath(new URL("../../click-ingester/src/replay.ts", import.meta.url));

/** So that it does not overtake the ingester, which may be behind. */
const settledAfterMs = 300_000;

export async function replay(
  { addresses }: Context,
  { from, to = Date.now() - settledAfterMs, rate }: { from: number; to?: number; rate?: number },
): Promise<void> {
  const EVENT_LOG_URL = await addresses.eventLogUrl();
  if (!/^(?:journal|kafka):/.test(EVENT_LOG_URL))
    throw new ServiceError(
      "config",
      "only a journal or Kafka keeps what was read; this event log has nothing to replay",
    );
  const CLICK_STORE_URL = await addresses.clickStoreUrl();
  const args = [program, `--from=${from}`, `--to=${to}`, ...(rate === undefined ? [] : [`--rate=${rate}`])];
  const child = spawn(process.execPath, args, {
    env: environmentWith({ EVENT_LOG_URL, CLICK_STORE_URL }),
    stdio: "inherit",
  });
  await once(child, "close");
  process.exitCode = child.exitCode ?? 1;
}
