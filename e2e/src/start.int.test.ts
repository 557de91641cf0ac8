import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { isOnLoopbackAlone, listenerOn, processesOf, send } from "./processes.ts";
import { createSystem, type System } from "./system.ts";
import { makeTarget } from "./sluice.ts";

const run = promisify(execFile);

/** A click as a browser makes it, and where it is sent. */
async function click(system: System): Promise<string | null> {
  const response = await fetch(`http://localhost:${system.ports.edge}/demo`, { redirect: "manual" });
  expect(response.status).toBe(302);
  return response.headers.get("location");
}

/** A customer's server: what it has taken. */
async function openCustomer() {
  const taken: { body: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      taken.push({ body, headers: request.headers });
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    taken,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

/** What the line that `npm start` prints for copying answers. */
async function pasteQuery(system: System): Promise<string> {
  const command = /curl '.*'$/.exec(system.output.findLast((line) => line.includes("curl '")) ?? "")?.[0];
  const { stdout } = await run("sh", ["-c", `${command} --silent --show-error`]);
  return stdout.trim();
}

async function nothingIsLeft(system: System): Promise<void> {
  await expect.poll(() => processesOf(system.dataDir), { timeout: 15_000 }).toEqual([]);
}

test("npm start: click the link, paste the query, see the click two seconds later; SIGTERM leaves nothing", async () => {
  await using system = await createSystem({ command: ["npm", "start"] });
  const npm = system.start();
  await npm.up;
  // Visitors come from anywhere, to one port.
  const { edge: _, ...inside } = system.ports;
  for (const port of Object.values(inside)) expect(await isOnLoopbackAlone(port)).toBe(true);
  expect(await isOnLoopbackAlone(system.ports.edge)).toBe(false);
  expect(await pasteQuery(system)).toBe("0");
  expect(await click(system)).toBe("https://example.com/?from=sluice");
  const clickedAt = performance.now();
  await expect.poll(() => pasteQuery(system), { timeout: 10_000, interval: 50 }).toBe("1");
  // A flush is one second; the rest is for a busy machine. How long it takes is measured by the benchmarks.
  expect(performance.now() - clickedAt).toBeLessThan(5_000);

  npm.child.kill("SIGTERM");
  expect(await npm.ended).toBe(0);
  await nothingIsLeft(system);
});

test("with CLICK_STORE=postgres clicks are in a database beside the links, no ClickHouse runs, and webhooks are sent", async () => {
  await using system = await createSystem({ store: "postgres" });
  const { child, up, ended } = system.start();
  await up;
  const paste = system.output.find((line) => line.includes("psql")) ?? "";
  expect(paste).toContain(`cat '${system.dataDir}/postgres/password'`);
  expect(paste).toContain(`-p ${system.ports.postgres} -U sluice clicks`);
  await using customer = await openCustomer();
  const [, secret = ""] = await makeTarget({ SLUICE_DATA_DIR: system.dataDir }, "endpoint", customer.url);
  // It is told to the ingester and the dispatcher within two seconds.
  await expect
    .poll(
      async () => {
        await click(system);
        return customer.taken.some(({ body }) => body.includes('"type":"link.clicked"'));
      },
      { timeout: 20_000, interval: 500 },
    )
    .toBe(true);
  for (const { body, headers } of customer.taken) {
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
  }
  await expect
    .poll(() => system.query("SELECT count(*) > 0 AS clicked FROM clicks"), { timeout: 10_000 })
    .toEqual(["true"]);
  expect(await listenerOn(system.ports.clickhouse)).toBe(undefined);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  await nothingIsLeft(system);
});

test("after kill -9 of the supervisor its apps leave, and the next start has the data and the ports", async () => {
  await using system = await createSystem();
  const killed = system.start();
  await killed.up;
  await click(system);
  killed.child.kill("SIGKILL");
  await killed.ended;

  const next = system.start();
  await next.up;
  await click(system);
  await expect.poll(() => pasteQuery(system), { timeout: 10_000 }).toBe("2");
  next.child.kill("SIGINT");
  // As npm and the terminal send it, twice at once: the second is no order to hurry.
  next.child.kill("SIGINT");
  expect(await next.ended).toBe(0);
  await nothingIsLeft(system);
});

test("a second order to stop ends what does not stop, and nothing is lost", async () => {
  await using system = await createSystem();
  const hurried = system.start();
  await hurried.up;
  await click(system);
  // It will not drain: it is frozen.
  expect(send(await listenerOn(system.ports.ingesterOps), "SIGSTOP")).toBe(true);
  hurried.child.kill("SIGTERM");
  await expect.poll(() => system.output.join("\n")).toContain("stopping");
  // Sooner, it would pass for the echo of the first.
  await delay(600);
  hurried.child.kill("SIGTERM");
  expect(await hurried.ended).toBe(1);
  await nothingIsLeft(system);

  const next = system.start();
  await next.up;
  await expect.poll(() => pasteQuery(system), { timeout: 10_000 }).toBe("1");
  next.child.kill("SIGTERM");
  expect(await next.ended).toBe(0);
});

test("what keeps it from starting is said in one line, with what to do, and leaves nothing running", async () => {
  await using system = await createSystem();
  const running = system.start();
  await running.up;
  await using other = await createSystem({ env: { SLUICE_DATA_DIR: system.dataDir } });
  expect(await refusal(other)).toEqual([
    78,
    expect.stringContaining("another Sluice runs on the data directory"),
  ]);

  await using sameEdgePort = await createSystem({ env: { EDGE_PORT: String(system.ports.edge) } });
  expect(await refusal(sameEdgePort)).toEqual([
    1,
    `sluice: port ${system.ports.edge} is in use: end what uses it, or choose another by EDGE_PORT`,
  ]);

  await using samePostgresPort = await createSystem({
    env: { POSTGRES_PORT: String(system.ports.postgres) },
  });
  const [code, line] = await refusal(samePostgresPort);
  expect([code, line]).toEqual([
    1,
    expect.stringMatching(/^sluice: .*port \d+ .*in use.* by POSTGRES_PORT$/),
  ]);
  await nothingIsLeft(samePostgresPort);

  await using newer = await createSystem();
  await writeFile(join(newer.dataDir, "VERSION"), "2\n");
  expect(await refusal(newer)).toEqual([78, expect.stringContaining("is of version 2")]);

  await using mistaken = await createSystem({ env: { EDGE_PORT: "eighty" } });
  expect(await refusal(mistaken)).toEqual([78, expect.stringContaining("EDGE_PORT")]);

  await using mistakenApp = await createSystem({ env: { JOURNAL_BUDGET: "much" } });
  expect(await refusal(mistakenApp)).toEqual([
    78,
    "sluice: edge-redirect refuses its configuration; it says why above",
  ]);
  await nothingIsLeft(mistakenApp);

  running.child.kill("SIGTERM");
  expect(await running.ended).toBe(0);
});

/** The exit code of a start that fails, and its last line. */
async function refusal(system: System): Promise<[number | null, string]> {
  const code = await system.start().ended;
  return [code, system.output.filter((line) => line.trim() !== "").at(-1) ?? ""];
}
