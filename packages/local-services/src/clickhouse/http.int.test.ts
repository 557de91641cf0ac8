import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";

import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { silentLog } from "@sluice/service/log.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startClickHouse } from "../clickhouse.ts";
import type { LocalServer } from "../server.ts";
import { testDir } from "../test-dir.fixture.ts";

const stack = new AsyncDisposableStack();
let server: LocalServer;
let client: ClickHouseClient;
let dataDir: string;

beforeAll(async () => {
  dataDir = stack.use(await testDir()).path;
  server = stack.use(await startClickHouse({ dataDir, log: silentLog, maxQuerySeconds: 3 }));
  client = stack.use(createClient({ url: server.url, log: { level: ClickHouseLogLevel.OFF } }));
});
afterAll(() => stack.disposeAsync());

beforeEach(async () => {
  await client.command({ query: "DROP TABLE IF EXISTS t SYNC" });
  await client.command({
    query: `CREATE TABLE t (id UInt64, bytes String) ENGINE = MergeTree ORDER BY id
            SETTINGS non_replicated_deduplication_window = 100`,
  });
});

async function select<T>(query: string): Promise<T[]> {
  const result = await client.query({ query, format: "JSONEachRow" });
  return await result.json<T>();
}

const insertLines = (body: Buffer<ArrayBuffer>, encoding: string) =>
  post("query=INSERT+INTO+t+FORMAT+JSONEachRow", body, { headers: { "Content-Encoding": encoding } });
const curl = async (...args: string[]) => (await promisify(execFile)("curl", ["-s", "-g", ...args])).stdout;
const count = async () => Number((await select<{ n: string }>("SELECT toString(count()) AS n FROM t"))[0]?.n);
const post = (query: string, body?: string | Buffer<ArrayBuffer>, init: RequestInit = {}) =>
  fetch(`${server.url}/?${query}`, { method: "POST", body: body ?? null, ...init });

describe("the official client", () => {
  it("pings", async () => {
    expect(await client.ping()).toEqual({ success: true });
    expect(await client.ping({ select: true })).toEqual({ success: true });
  });

  it("inserts objects and a stream of them, and is told how many rows were written", async () => {
    const rows = [1, 2, 3].map((id) => ({ id, bytes: `é${id}\n\n;` }));
    const { summary } = await client.insert({ table: "t", values: rows, format: "JSONEachRow" });
    expect(summary?.written_rows).toBe("3");
    await client.insert({
      table: "t",
      values: Readable.from([{ id: 4, bytes: "é1\n\n;" }]),
      format: "JSONEachRow",
    });
    expect(await select("SELECT DISTINCT bytes FROM t ORDER BY bytes")).toEqual(
      rows.map(({ bytes }) => ({ bytes })),
    );
    expect(await count()).toBe(4);
  });

  it("stores bytes that are no text as they are", async () => {
    const bytes = Buffer.from([0, 10, 10, 59, 255, 254, 13, 10, 39, 92]);
    const id = Buffer.alloc(8);
    id.writeBigUInt64LE(10n);
    const row = Buffer.concat([id, Buffer.from([bytes.length]), bytes]);
    await client.exec({ query: "INSERT INTO t FORMAT RowBinary", values: Readable.from([row, row]) });
    expect(await select("SELECT hex(bytes) AS hex FROM t")).toEqual(
      [1, 2].map(() => ({ hex: bytes.toString("hex").toUpperCase() })),
    );
  });

  it("compresses requests and answers", async () => {
    await using compressing = createClient({
      url: server.url,
      compression: { request: true, response: true },
    });
    const values = Array.from({ length: 1_000 }, (_, id) => ({ id, bytes: "x".repeat(100) }));
    await compressing.insert({ table: "t", values, format: "JSONEachRow" });
    const result = await compressing.query({
      query: "SELECT id, bytes FROM t ORDER BY id",
      format: "JSONEachRow",
    });
    expect(await result.json()).toEqual(values);
  });

  it("gets a ClickHouseError with the server's code and type", async () => {
    await expect(client.query({ query: "SELECT * FROM nothing" })).rejects.toThrow(ClickHouseError);
    await expect(client.query({ query: "SELECT * FROM nothing" })).rejects.toMatchObject({
      code: "60",
      type: "UNKNOWN_TABLE",
    });
    await expect(client.query({ query: "SELECT throwIf(1)" })).rejects.toMatchObject({ code: "395" });
    const values = Readable.from(['{"id":1,"bytes":"a"}\n{"id":"x"}\n']);
    await expect(
      client.insert({ table: "t", values: [{ id: "no number" }], format: "JSONEachRow" }),
    ).rejects.toMatchObject({
      code: "27",
    });
    await expect(client.exec({ query: "INSERT INTO t FORMAT JSONEachRow", values })).rejects.toMatchObject({
      code: "27",
    });
    expect(await count()).toBe(0);
  });

  it("binds parameters of every kind", async () => {
    const values = {
      n: 18446744073709551615n,
      s: "it's\ttab \\ \n ü",
      list: ["a'b", "c\\"],
      nothing: null,
      at: new Date(1_785_000_000_123),
      on: true,
    };
    const query =
      "SELECT toString({n:UInt64}) AS n, {s:String} AS s, {list:Array(String)} AS list, {nothing:Nullable(String)} AS nothing, toUnixTimestamp64Milli({at:DateTime64(3)}) AS at, {on:Bool} AS on, {t:Identifier} AS i FROM (SELECT 7 AS x)";
    const result = await client.query({ query, query_params: { ...values, t: "x" }, format: "JSONEachRow" });
    expect(await result.json()).toEqual([{ ...values, n: `${values.n}`, at: 1_785_000_000_123, i: 7 }]);
  });

  it("stores a token's rows once, and a setting ends with its request", async () => {
    const insert = (token: string) =>
      client.insert({
        table: "t",
        values: [{ id: 1, bytes: "" }],
        format: "JSONEachRow",
        clickhouse_settings: { insert_deduplication_token: token },
      });
    for (const token of ["a", "a", "b", "a"]) await insert(token);
    expect(await count()).toBe(2);
    await client.insert({ table: "t", values: [{ id: 1, bytes: "" }], format: "JSONEachRow" });
    expect(
      await select(
        "SELECT getSetting('log_comment') AS comment, getSetting('insert_deduplication_token') AS token",
      ),
    ).toEqual([{ comment: "", token: "" }]);
  });
});

describe("over plain HTTP", () => {
  it("takes the statement from the URL, the body, or both", async () => {
    await post("query=INSERT+INTO+t+FORMAT+CSV", '1,"a\n\n;b"\n2,c');
    await post("", "INSERT INTO t VALUES (3, 'd'), (4, 'e\n\n')");
    await post("query=INSERT+INTO+t+VALUES", "(5, 'f')");
    await post(`query=${encodeURIComponent("INSERT INTO t VALUES (6, 'g')")}`);
    await post(
      "query=INSERT+INTO+t+SELECT+id+%2B+1,+bytes+FROM+input('id UInt64, bytes String')+FORMAT+JSONEachRow",
      '{"id":6,"bytes":"h"}',
    );
    const response = await post("query=SELECT+bytes", "FROM t ORDER BY id");
    expect(await response.text()).toBe("a\\n\\n;b\nc\nd\ne\\n\\n\nf\ng\nh\n");
  });

  it("takes compressed bodies, and refuses a broken one before anything is stored", async () => {
    const rows = Buffer.from('{"id":1}\n{"id":2}\n');
    expect((await insertLines(gzipSync(rows), "gzip")).status).toBe(200);
    expect((await insertLines(zstdCompressSync(Buffer.from('{"id":3}\n{"id":4}\n')), "zstd")).status).toBe(
      200,
    );
    expect(await count()).toBe(4);
    const broken = await insertLines(gzipSync(rows).subarray(0, 20), "gzip");
    expect([broken.status, broken.headers.get("X-ClickHouse-Exception-Code")]).toEqual([500, "354"]);
    expect((await insertLines(rows, "rot13")).headers.get("X-ClickHouse-Exception-Code")).toBe("89");
    expect(await count()).toBe(4);
  });

  it("a GET only reads", async () => {
    const get = (query: string) => fetch(`${server.url}/?query=${encodeURIComponent(query)}`);
    for (const query of [
      "INSERT INTO t VALUES (1, '')",
      "DROP TABLE t",
      "CREATE TABLE u (a UInt8) ENGINE = Memory",
    ]) {
      const response = await get(query);
      expect([query, response.headers.get("X-ClickHouse-Exception-Code")]).toEqual([query, "164"]);
      expect(await response.text()).toContain("READONLY");
    }
    expect(await (await get("SELECT count() FROM t")).text()).toBe("0\n");
    expect((await fetch(`${server.url}/?query=SELECT+1&max_threads=1`)).status).toBe(200);
  });

  it("names format, query, summary and time zone in its headers", async () => {
    const { headers } = await post("query_id=mine&default_format=JSONCompact", "SELECT 1");
    expect(headers.get("X-ClickHouse-Format")).toBe("JSONCompact");
    expect(headers.get("Content-Type")).toBe("application/json; charset=UTF-8");
    expect(headers.get("X-ClickHouse-Query-Id")).toBe("mine");
    expect(JSON.parse(headers.get("X-ClickHouse-Summary") ?? "")).toMatchObject({ written_rows: "0" });
    expect(headers.get("X-ClickHouse-Timezone")).not.toBe("");
  });

  it("sends a result of a hundred megabytes without holding it", async () => {
    const response = await post("", "SELECT number, repeat('x', 90) FROM numbers(1000000)");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(90_000_000);
    expect(readdirSync(join(dataDir, "spool"))).toEqual([]);
  });
});

describe("what is wrong with a request is answered", () => {
  it.each([
    ["", "SELEC 1", 400, "62"],
    ["", "", 400, "62"],
    ["", "SELECT 1; SELECT 2", 400, "62"],
    ["database=nowhere", "SELECT 1", 404, "81"],
    ["no_such_setting=1", "SELECT 1", 404, "115"],
    ["a'b=1", "SELECT 1", 404, "115"],
    ["default_format=x'y", "SELECT 1", 404, "73"],
    ["query_id=a%0Ab", "SELECT 1", 400, "36"],
    ["session_id=1", "SELECT 1", 501, "48"],
    ["decompress=1", "SELECT 1", 501, "48"],
    ["param_x=a", "SELECT {x:UInt8}", 500, "457"],
    ["", "SELECT {x:UInt8}", 500, "456"],
    [
      "max_execution_time=100",
      "SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_block_size = 1",
      408,
      "159",
    ],
  ])("?%s %s", async (query, body, status, code) => {
    const response = await post(query, body);
    expect([
      response.status,
      response.headers.get("X-ClickHouse-Exception-Code"),
      await response.text(),
    ]).toEqual([
      status,
      code,
      expect.stringMatching(new RegExp(`^Code: ${code}\\. DB::Exception: .*\\([A-Z_]+\\)\n$`, "s")),
    ]);
    expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  });

  it("a statement that is too long, beside rows, is refused", async () => {
    const response = await post("", `SELECT 1${" ".repeat(300_000)}`);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("Max query size exceeded"),
    ]);
  });

  it("other paths, methods and pages of other sites are refused", async () => {
    expect((await fetch(`${server.url}/x`)).status).toBe(404);
    expect((await fetch(server.url, { method: "DELETE" })).status).toBe(405);
    expect(await statusOf({ "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await statusOf({ "Sec-Fetch-Site": "same-origin", Host: "evil.example:8123" })).toBe(403);
    expect(await statusOf({ "Sec-Fetch-Site": "none" })).toBe(200);
    expect(await statusOf({ Host: "a.proxy.example" })).toBe(200);
  });

  it("a body that breaks off stores nothing", async () => {
    const sent = request(`${server.url}/?query=INSERT+INTO+t+FORMAT+JSONEachRow`, {
      method: "POST",
      headers: { "Content-Length": "1000" },
    });
    const failed = new Promise((resolve) => sent.once("error", resolve));
    sent.write('{"id":1}\n{"id":2}\n', () => sent.destroy());
    await failed;
    expect(await count()).toBe(0);
  });
});

describe("while a long query runs", () => {
  it("pings, reads and inserts are answered, and its log_comment is to be seen", async () => {
    const long = post(
      "log_comment=long",
      "SELECT sum(sleepEachRow(0.1)) FROM numbers(20) SETTINGS max_block_size = 1",
    );
    const seen = "SELECT count() AS n FROM system.processes WHERE Settings['log_comment'] = 'long'";
    await expect.poll(() => select(seen)).toEqual([{ n: 1 }]);
    expect(await client.ping()).toEqual({ success: true });
    await client.insert({ table: "t", values: [{ id: 1, bytes: "" }], format: "JSONEachRow" });
    expect(await select(seen)).toEqual([{ n: 1 }]);
    expect((await long).status).toBe(200);
    expect(await select(seen)).toEqual([{ n: 0 }]);
  });
});

describe("what Sluice's tables need", () => {
  it("a view with FINAL and its definer's rights shows each row once while merges are stopped", async () => {
    await client.command({ query: "SYSTEM STOP MERGES" });
    await client.command({ query: "CREATE TABLE r (id UInt64) ENGINE = ReplacingMergeTree ORDER BY id" });
    await client.command({
      query: "CREATE VIEW v DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM r FINAL",
    });
    for (const id of [1, 1, 2]) await client.insert({ table: "r", values: [{ id }], format: "JSONEachRow" });
    expect(await select("SELECT count() AS n FROM r")).toEqual([{ n: 3 }]);
    expect(await select("SELECT id FROM v ORDER BY id")).toEqual(
      [{ id: 1 }, { id: 2 }].map(({ id }) => ({ id })),
    );
    await client.command({ query: "DROP VIEW v" });
    await client.command({ query: "DROP TABLE r SYNC" });
    await client.command({ query: "SYSTEM START MERGES" });
  });
});

describe("curl", () => {
  it("queries and inserts", async () => {
    await curl(`${server.url}/`, "-d", "INSERT INTO t FORMAT Values (1, 'a')");
    expect(await curl(`${server.url}/?query=SELECT+count()+FROM+t`)).toBe("1\n");
    expect(
      await curl(`${server.url}/?enable_http_compression=1`, "--compressed", "-d", "SELECT 1 FORMAT CSV"),
    ).toBe("1\n");
    expect(await curl(server.url)).toBe("Ok.\n");
    expect(await curl("-X", "BREW", server.url)).toBe("");
  });
});

async function statusOf(headers: Record<string, string>): Promise<number | undefined> {
  const sent = request(`${server.url}/?query=SELECT+1`, { headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject);
  });
  response.resume();
  return response.statusCode;
}
