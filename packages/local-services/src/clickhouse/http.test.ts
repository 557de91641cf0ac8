import { once } from "node:events";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { expect, it } from "vitest";

import type { Engine } from "./engine.ts";
import { createHandler } from "./http.ts";
import { createInsertList } from "./insert-list.ts";
import { createSlots } from "./slots.ts";
import { createSpool } from "./spool.ts";

/** The HTTP side in front of an engine that answers when it is told to; resolves to the server's URL. */
async function serve(stack: AsyncDisposableStack, run: Engine["run"], atOnce = 1): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-http-"));
  stack.defer(() => rmSync(directory, { recursive: true }));
  const engine = { run, [Symbol.dispose]() {} };
  const resources = {
    engine,
    inserts: createInsertList(engine),
    slots: createSlots(atOnce, 1),
    maxQuerySeconds: 1,
    maxWriteSeconds: 1,
    maxFileBytes: 1_000_000,
  };
  const server = createServer(createHandler(resources, createSpool(join(directory, "spool")), silentLog));
  stack.use(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}/`;
}

const nothing = { bytes: new Uint8Array(), rowCount: 0, rowBytes: 0, elapsedSeconds: 0 };

it("beyond those that run and those that may wait a query is refused, and pings are answered all the while", async () => {
  await using stack = new AsyncDisposableStack();
  const { promise: release, resolve } = Promise.withResolvers<void>();
  const url = await serve(stack, async () => {
    await release;
    return nothing;
  });
  const show = () => fetch(url, { method: "POST", body: "SHOW TABLES" });
  const answers = [show(), show(), show()];
  const first = await Promise.race(answers);
  expect([first.status, first.headers.get("X-ClickHouse-Exception-Code")]).toEqual([500, "202"]);
  expect(await (await fetch(`${url}ping`)).text()).toBe("Ok.\n");
  resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, 200, 500]);
});

it("rows beyond the limit are refused with an answer, and never reach the engine", async () => {
  await using stack = new AsyncDisposableStack();
  const texts: string[] = [];
  const url = await serve(stack, async ({ text }) => {
    texts.push(text);
    return nothing;
  });
  const insert = (bytes: number) =>
    fetch(`${url}?query=INSERT+INTO+t+FORMAT+RowBinary`, { method: "POST", body: Buffer.alloc(bytes) });
  const refused = await insert(10_000_000);
  expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining("TOO_MANY_BYTES")]);
  expect(texts).toEqual([]);
  expect((await insert(1_000_000)).status).toBe(200);
  expect(texts).toHaveLength(1);
});

it("an insert whose sender goes at the last moment does not run, and whoever lists processes waits for that", async () => {
  await using stack = new AsyncDisposableStack();
  const opened = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const ran: string[] = [];
  const url = await serve(
    stack,
    async ({ text, lastly }) => {
      if (text.startsWith("INSERT")) {
        opened.resolve();
        await release.promise;
      }
      await lastly?.();
      ran.push(text.slice(0, 12));
      return nothing;
    },
    2,
  );
  const sender = new AbortController();
  const inserted = fetch(url, {
    method: "POST",
    body: 'INSERT INTO t FORMAT JSONEachRow {"id":1}',
    signal: sender.signal,
  });
  await opened.promise;
  const listed = fetch(url, { method: "POST", body: "SELECT x FROM system.processes" });
  sender.abort();
  await expect(inserted).rejects.toThrow("aborted");
  // The server asks its engine for the list, and goes on asking.
  await expect.poll(() => ran).toContain("SELECT query");
  expect(ran).not.toContain("SELECT x FRO");
  release.resolve();
  await listed;
  expect(ran).toContain("SELECT x FRO");
  expect(ran).not.toContain("INSERT INTO ");
});
