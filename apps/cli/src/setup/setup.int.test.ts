import { execFile } from "node:child_process";
import { join } from "node:path";

import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { queryPostgres, testPostgres } from "@sluice/testkit/postgres.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, test } from "vitest";

import { run } from "../testing/run.ts";

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
    const args = [join(import.meta.dirname, "../main.ts"), "setup", "--wait=60", "--partitions=3"];
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

  test("each service whose address is set gets a login of its own, which may do what it does and no more", async () => {
    const { url } = servers().postgres;
    const login = (user: string) =>
      Object.assign(new URL(url), { username: user, password: `${user}%20pass` }).href;
    const [edge, ingester, dispatcher] = ["an edge", "an ingester", "a dispatcher"].map(login);
    const urls = {
      EDGE_DATABASE_URL: edge,
      INGESTER_DATABASE_URL: ingester,
      INGESTER_CLICK_STORE_URL: ingester,
      DISPATCHER_DATABASE_URL: dispatcher,
      DISPATCHER_CLICK_STORE_URL: "http://dispatcher:pass@localhost:8123/sluice",
    };
    for (const command of ["setup", "access"]) {
      const { code, out, err } = await run({ ...env(), ...urls }, [command]);
      expect(err).toBe("");
      expect(code).toBe(0);
      expect(out.filter((line) => line.startsWith("access: "))).toEqual([
        "access: links: an edge is the edge's",
        "access: links: an ingester is the ingester's",
        "access: links: a dispatcher is the dispatcher's",
        "access: clicks: an ingester is the ingester's",
      ]);
    }
    await queryPostgres(edge ?? "", "SELECT FROM links");
    await queryPostgres(ingester ?? "", "SELECT FROM click_events");
    const denied = { code: "42501" };
    await expect(queryPostgres(edge ?? "", "SELECT FROM click_events")).rejects.toMatchObject(denied);
    await expect(queryPostgres(dispatcher ?? "", "SELECT FROM click_events")).rejects.toMatchObject(denied);
  });

  test.for([
    ["EDGE_DATABASE_URL", "postgres://edge@localhost/sluice", "one without a password"],
    ["EDGE_DATABASE_URL", "postgres://localhost/sluice", "one without a user"],
    ["EDGE_DATABASE_URL", undefined, "set EDGE_DATABASE_URL"],
  ] as const)("an address that names no login is refused: %s=%s", async ([variable, url, reason]) => {
    const { code, err } = await run({ ...env(), ...(url !== undefined && { [variable]: url }) }, ["access"]);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });

  test("a server that does not come is given up after the wait, and the reason is said", async () => {
    const { code, err } = await run({ ...env(), DATABASE_URL: "postgres://localhost:1/links" }, [
      "setup",
      "--wait=1",
    ]);
    expect(code).toBe(1);
    expect(err).toMatch(/^sluice: .*ECONNREFUSED/m);
  });

  test.for([
    ["DATABASE_URL", { username: "nobody" }],
    ["DATABASE_URL", { pathname: "/nothing" }],
    ["CLICK_STORE_URL", { username: "nobody" }],
  ] as const)("a server that refuses the login is not waited for: %s, %o", async ([variable, wrong]) => {
    const refused = Object.assign(new URL(servers().postgres.url), wrong).href;
    const { code, err } = await run({ ...env(), [variable]: refused }, ["setup", "--wait=3600"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^sluice: .*(?:nobody|nothing)/);
  });

  test("another event log than Kafka needs no topics", async () => {
    const { out } = await run({ ...env(), EVENT_LOG_URL: "redis://localhost:1" }, ["topics"]);
    expect(out).toEqual(["topics: this event log makes its own"]);
  });
});
