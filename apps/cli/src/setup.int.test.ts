import { execFile } from "node:child_process";
import { join } from "node:path";

import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, test } from "vitest";

import { run } from "./testing/run.ts";

async function openServers() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  const kafka = stack.use(await testKafka());
  const proxy = stack.use(await openTcpProxy(postgres.url));
  const opened = stack.move();
  return { postgres, kafka, proxy, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("setting up", openServers, (servers) => {
  const env = () => ({
    DATABASE_URL: servers().postgres.url,
    CLICK_STORE_URL: servers().postgres.url,
    EVENT_LOG_URL: servers().kafka.url,
  });
  const done = [
    "links: Postgres is at this version",
    "clicks: Postgres is at this version",
    "topics: clicks and clicks.fanout are there",
  ];

  test("a server that is still on its way up is waited for, and then tables and topics are there", async () => {
    const { proxy, kafka } = servers();
    proxy.refuse();
    const args = [join(import.meta.dirname, "main.ts"), "setup", "--wait=60", "--partitions=3"];
    const child = execFile(process.execPath, args, { env: { ...env(), DATABASE_URL: proxy.url } });
    let out = "";
    child.stdout?.on("data", (text: string) => (out += text));
    const waits = new Promise<string>((resolve) => child.stderr?.once("data", resolve));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    expect(await waits).toMatch(/^waiting: /);
    proxy.flow();
    expect(await ended).toBe(0);
    expect(out.trim().split("\n")).toEqual(done);
    // Another number of partitions than the URL demands would be refused.
    await using log = await openEventLog(`${kafka.url}?partitions=3`, {
      log: silentLog,
      metrics: createMetrics(),
    });
    await log.append("clicks.fanout", [{ key: "a", value: new Uint8Array(1) }]);
  });

  test("setting up again leaves everything as it is", async () => {
    expect(await run(env(), ["setup"])).toEqual({ code: 0, out: done, err: "" });
  });

  test("a server that does not come is given up after the wait, and the reason is said", async () => {
    const { code, err } = await run({ ...env(), DATABASE_URL: "postgres://localhost:1/links" }, [
      "setup",
      "--wait=1",
    ]);
    expect(code).toBe(1);
    expect(err).toMatch(/^sluice: .*ECONNREFUSED/m);
  });

  test("another event log than Kafka needs no topics", async () => {
    const { out } = await run({ ...env(), EVENT_LOG_URL: "redis://localhost:1" }, ["topics"]);
    expect(out).toEqual(["topics: this event log makes its own"]);
  });
});
