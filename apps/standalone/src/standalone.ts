import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { Log } from "@sluice/service/log.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import { startApp } from "./app.ts";
import { apps, eventLogUrl, leaveWithinMs } from "./apps.ts";
import type { Config } from "./config.ts";
import { openDataDir } from "./data-dir.ts";
import { type Kept, keepRunning, type Running } from "./keep-running.ts";
import type { Output } from "./output.ts";
import { waitForPorts } from "./ports.ts";
import { prepare } from "./prepare.ts";
import { openRunFile } from "./run-file.ts";
import { readSecretKeys } from "./secret-keys.ts";
import { clickhouse, clicksDatabase, postgres } from "./servers.ts";
import { watchSources } from "./watch.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface Standalone {
  readonly config: Config;
  /** Start the apps again when their sources change. */
  readonly watch: boolean;
  readonly output: Output;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Runs everything on this machine until the signal aborts, and then stops it in good order: the edge, so that
 * nothing new comes in; the ingester, which stores what it has in hand; the dispatcher; the servers. Rejects with a ServiceError
 * when it cannot start, or when an app refuses its configuration.
 */
export async function standalone({ config, watch, output, log, signal }: Standalone): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await openDataDir(config.SLUICE_DATA_DIR));
  const runFile = resources.use(openRunFile(path));
  const { EDGE_PORT, EDGE_OPS_PORT, INGESTER_OPS_PORT, DISPATCHER_OPS_PORT } = config;
  if (runFile.isLeftOver)
    log.warn({}, "the last supervisor was killed: its apps leave, its servers are stopped");
  const waitMs = runFile.isLeftOver ? leaveWithinMs : 0;
  await waitForPorts(
    { EDGE_PORT, EDGE_OPS_PORT, INGESTER_OPS_PORT, DISPATCHER_OPS_PORT },
    { waitMs, signal },
  );

  const refused = new AbortController();
  const over = AbortSignal.any([signal, refused.signal]);
  async function keep<Process extends Running>(name: string, start: () => Promise<Process>) {
    signal.throwIfAborted();
    const onRefused = () => {
      refused.abort(new ServiceError("config", `${name} refuses its configuration; it says why above`));
    };
    const kept = resources.use(await keepRunning(start, { log: output.log(name), onRefused }));
    // For whoever leaves in a hurry: nothing of ours goes on.
    process.once("exit", () => kept.kill());
    return kept;
  }

  const links = await keep("postgres", postgres(path, config, output.log("postgres")));
  const clickStoreUrl =
    config.CLICK_STORE === "postgres"
      ? clicksDatabase(links.first.url)
      : (await keep("clickhouse", clickhouse(path, config, output.log("clickhouse")))).first.url;
  const addresses = {
    databaseUrl: links.first.url,
    clickStoreUrl,
    eventLogUrl: eventLogUrl(path, config),
    secretKeys: await readSecretKeys(path),
    edgeUrl: `http://localhost:${EDGE_PORT}`,
  };
  await runFile.write(addresses);
  await prepare(addresses, log, signal);

  const kept: Kept[] = [];
  for (const app of apps(root, path, config, addresses)) {
    kept.push(await keep(app.name, () => startApp(app, output)));
  }
  if (watch) {
    const restart = () => {
      log.info({}, "a source has changed: starting the apps again");
      for (const each of kept) each.restart();
    };
    resources.use(watchSources(root, restart));
  }
  await whenReady([EDGE_OPS_PORT, INGESTER_OPS_PORT, DISPATCHER_OPS_PORT], over);
  if (!over.aborted) output.print(welcome(config, path));
  await aborted(over);
  refused.signal.throwIfAborted();
}

/** Resolves when every app says so, or at the end. One that does not start says why in its own lines. */
async function whenReady(opsPorts: readonly number[], over: AbortSignal): Promise<void> {
  for (const port of opsPorts) {
    while (!over.aborted && !(await isReady(port, over))) await delay(50);
  }
}

async function isReady(port: number, signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: limit });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

function welcome(config: Config, path: string): string {
  const { EDGE_PORT, CLICKHOUSE_PORT, POSTGRES_PORT } = config;
  const health = [config.EDGE_OPS_PORT, config.INGESTER_OPS_PORT, config.DISPATCHER_OPS_PORT]
    .map((port) => `http://localhost:${port}/readyz`)
    .join("  ");
  const count =
    config.CLICK_STORE === "postgres"
      ? `PGPASSWORD=$(cat '${path}/postgres/password') psql -h 127.0.0.1 -p ${POSTGRES_PORT} -U sluice clicks -c 'SELECT count(*) FROM clicks'`
      : `curl 'http://localhost:${CLICKHOUSE_PORT}/?query=SELECT+count()+FROM+clicks'`;
  return `
  Sluice is running; its data is in ${path}

  Click     http://localhost:${EDGE_PORT}/demo
  and see   ${count}

  Links     npm run -s sluice -- link create https://example.com
  Health    ${health}
`;
}
