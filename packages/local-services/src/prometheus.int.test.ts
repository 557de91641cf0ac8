import { silentLog } from "@sluice/service/log.ts";
import { expect, it } from "vitest";

import { isAlive } from "./process-table.ts";
import { startPrometheus } from "./prometheus.ts";
import { testDir } from "./test-dir.fixture.ts";

it("a Prometheus answers queries, and leaves nothing", async () => {
  await using dir = await testDir();
  await using server = await startPrometheus({ dataDir: dir.path, configuration: "", log: silentLog });
  const response = await fetch(`${server.url}/api/v1/query?query=1%2B1`);
  expect(await response.text()).toContain('"2"');
  await server[Symbol.asyncDispose]();
  expect(isAlive(server.pid)).toBe(false);
});

it("a Prometheus that does not take its configuration says why", async () => {
  await using dir = await testDir();
  const options = { dataDir: dir.path, configuration: "scrape: []", log: silentLog };
  await expect(startPrometheus(options)).rejects.toThrow("field scrape not found");
});
