import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Log } from "@sluice/service/log.ts";

import { claimDataDir, notNewer } from "./data-dir.ts";
import { LocalServiceError } from "./error.ts";
import { choosePort } from "./port.ts";
import { launch, type LocalServer, stopLeftover } from "./server.ts";

export interface PrometheusOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** The text of its `prometheus.yml`. */
  readonly configuration: string;
  readonly log: Log;
}

/**
 * Starts the machine's own Prometheus on the loopback interface. Rejects with a LocalServiceError: `missing` where
 * there is none, `start` with its own words where it does not take the configuration.
 */
export async function startPrometheus({
  dataDir: wanted,
  configuration,
  log,
}: PrometheusOptions): Promise<LocalServer> {
  const version = await prometheusVersion();
  const dataDir = await claimDataDir(wanted, { service: "prometheus", version }, (found) =>
    notNewer(found, version),
  );
  const own = { name: "prometheus", dataDir, stopSignal: "SIGTERM", stopWithinMs: 10_000, log } as const;
  await stopLeftover(own);
  const port = await choosePort("prometheus", "127.0.0.1", undefined);
  const file = join(dataDir, "prometheus.yml");
  await writeFile(file, configuration);
  const settings = {
    "config.file": file,
    "storage.tsdb.path": join(dataDir, "data"),
    "web.listen-address": `127.0.0.1:${port}`,
  };
  const url = `http://127.0.0.1:${port}`;
  return await launch({
    ...own,
    command: ["prometheus", ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)],
    port,
    url,
    startWithinMs: 30_000,
    ready: (signal) => ready(url, signal),
  });
}

async function ready(url: string, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
  const { status } = await fetch(`${url}/-/ready`, { signal: limit });
  if (status !== 200) throw new Error(`status ${status}`);
}

async function prometheusVersion(): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)("prometheus", ["--version"]);
    return /version ([\d.]+)/.exec(stdout + stderr)?.[1] ?? "0";
  } catch (cause) {
    throw new LocalServiceError("missing", "prometheus: there is no prometheus on the path", { cause });
  }
}
