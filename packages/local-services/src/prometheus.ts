import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { prepareServer, versionOf } from "./prepare-server.ts";
import { launch, type LocalServer } from "./server.ts";

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
  const own = await prepareServer({
    name: "prometheus",
    dataDir: wanted,
    version: await versionOf("prometheus", "--version", /version ([\d.]+)/),
    stopSignal: "SIGTERM",
    stopWithinMs: 10_000,
    log,
  });
  const { dataDir, port } = own;
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
