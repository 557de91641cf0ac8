import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { encodeClick } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openArchiveStorage } from "@sluice/event-log/archive-storage.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { type TestClickHouse, testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { testS3, type TestS3 } from "@sluice/testkit/s3.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeAll, beforeEach, expect, test } from "vitest";

import { runHere } from "../testing/run-here.ts";
import { run } from "../testing/run.ts";

const main = join(import.meta.dirname, "../main.ts");
const clickCount = 300;
const ts = Date.parse("2026-11-01T12:00:00Z");

/** A journal with clicks of one run of an edge, and something that is none. */
async function openJournal() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const url = `journal://${path}?groups=store`;
  const log = stack.use(await openEventLog(url, { log: silentLog, metrics: createMetrics() }));
  const edge_run = uuidv7(ts);
  const clicks = Array.from({ length: clickCount }, (_, index) =>
    sampleClick({ edge_run, edge_seq: index + 1, event_id: uuidv7(ts), ts: ts + index }),
  );
  const values = [...clicks.map(encodeClick), Buffer.from("no click")];
  await log.append(
    "clicks",
    values.map((value) => ({ key: edge_run, value })),
  );
  const opened = stack.move();
  return { path, url, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openServices() {
  await using stack = new AsyncDisposableStack();
  const clickhouse: TestClickHouse = stack.use(await testClickHouse());
  const s3: TestS3 = stack.use(await testS3());
  const opened = stack.move();
  return { clickhouse, s3, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("an archive from the command line", openServices, (services) => {
  const storeUrl = () => `${services().clickhouse.url}/${services().clickhouse.database}`;
  let archives = 0;
  /** In S3, of a name that no other test has. */
  const s3Url = (endpoint = services().s3.url) =>
    `s3://${services().s3.bucket}/${services().s3.prefix}/${archives}?endpoint=${endpoint}`;
  const env = (journal: string) => ({
    EVENT_LOG_URL: journal,
    CLICK_STORE_URL: storeUrl(),
    ...services().s3.keys,
  });

  async function ask(query: string): Promise<string> {
    const response = await fetch(`${services().clickhouse.url}/?database=${services().clickhouse.database}`, {
      method: "POST",
      body: query,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }
  /** All that is stored of the clicks, and of what is none. */
  const stored = () =>
    Promise.all([
      ask("SELECT * FROM click_events ORDER BY edge_seq FORMAT JSONEachRow"),
      ask("SELECT log, topic, record_id, value, reason FROM click_dead_letters FINAL FORMAT JSONEachRow"),
    ]);
  async function emptyStore(): Promise<void> {
    for (const table of ["click_events", "click_dead_letters"]) await ask(`TRUNCATE TABLE ${table}`);
  }

  beforeAll(() => migrate(storeUrl(), { log: silentLog }));
  beforeEach(async () => {
    archives += 1;
    await emptyStore();
    await ask("SYSTEM STOP MERGES click_events");
  });

  test("restores an empty click store to the rows that it had, from S3, with the log gone", async () => {
    await using journal = await openJournal();
    const all = ["--from", "2020-01-01", "--to", "2100-01-01"];
    await run(env(journal.url), ["replay", ...all]);
    const before = await stored();
    expect(before[0].split("\n")).toHaveLength(clickCount + 1);
    expect(before[1]).toContain("not-json");

    const archived = await runHere(env(journal.url), ["archive", s3Url(), "--file-size", "64"]);
    expect(archived).toMatchObject({ code: 0, err: "" });
    expect(archived.out[0]).toMatch(/^301 records archived in [2-9] files$/);
    expect((await runHere(env(journal.url), ["archive", s3Url()])).out).toEqual([
      "0 records archived in 0 files",
    ]);

    await emptyStore();
    await using elsewhere = await tempDir();
    const gone = env(`journal://${elsewhere.path}?groups=store`);
    const replay = (...args: string[]) => run(gone, ["replay", "--from-archive", s3Url(), ...args]);
    const later = ["--from", "2100-01-01", "--dry-run"];
    expect(await replay(...later)).toEqual({ code: 0, out: ["0 records in 0 files"], err: "" });
    expect(await replay("--rate", "5000")).toEqual({
      code: 0,
      out: ["301 records read, 0 clicks stored already, 300 stored now, 1 dead letters"],
      err: "",
    });
    expect(await stored()).toEqual(before);
  });

  // The moments are made certain by a proxy that holds back what would let it go on.
  test.each([
    ["before its file is there", "files/", "unheard", 0],
    ["after its file, and before the manifest has it", "files/", "unanswered", 1],
    ["before the manifest hears of it", "manifest/", "unheard", 0],
    ["after the manifest has it, and before the commit", "manifest/", "unanswered", 1],
  ] as const)("killed %s, loses nothing and stores nothing twice", async (_, kind, when, objects) => {
    await using journal = await openJournal();
    await using proxy = await openTcpProxy(services().s3.url);
    const storage = await openArchiveStorage(s3Url(), services().s3.keys);
    const there = async () => (await storage.list(`clicks/${kind}`)).length;
    const reached = proxy.stopAt(`/clicks/${kind}`, when);
    const child = spawn(process.execPath, [main, "archive", s3Url(proxy.url)], { env: env(journal.url) });
    const ended = once(child, "close");
    await reached;
    await expect.poll(there).toBe(objects);
    child.kill("SIGKILL");
    await ended;
    expect(await there()).toBe(objects);
    const second = await runHere(env(journal.url), ["archive", s3Url()]);
    expect(second.out).toEqual(["301 records archived in 1 files"]);
    const replayed = await run(env(journal.url), ["replay", "--from-archive", s3Url()]);
    const times = kind === "manifest/" && when === "unanswered" ? 2 : 1;
    expect(replayed.out[0]).toMatch(new RegExp(`^${times * 301} records read, .* 300 stored now`));
    expect(replayed.code).toBe(0);
    expect(await ask("SELECT count(), uniqExact(event_id) FROM click_events")).toBe("300\t300\n");
    expect(await ask("SELECT count() FROM click_dead_letters FINAL")).toBe("1\n");
  });

  test("S3 that is throttled, or cuts the connection, is tried again", async () => {
    await using journal = await openJournal();
    await using flaky = await openFlaky(services().s3.url, [
      "503 SlowDown",
      "cut",
      "500 InternalError",
      "cut",
    ]);
    const { code, out, err } = await runHere(env(journal.url), ["archive", s3Url(flaky.url)]);
    expect({ code, out }).toEqual({ code: 0, out: ["301 records archived in 1 files"] });
    expect(err).toContain("503 SlowDown words; tried again");
    const replayed = await run(env(journal.url), ["replay", "--from-archive", s3Url(), "--dry-run"]);
    expect(replayed.out).toEqual(["301 records in 1 files"]);
  });

  test("with wrong keys, or none, it says so, and archives all of it once they are right", async () => {
    await using journal = await openJournal();
    const wrong = { ...env(journal.url), AWS_SECRET_ACCESS_KEY: "wrong" };
    const { code, out, err } = await runHere(wrong, ["archive", s3Url()]);
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err).toMatch(/^sluice: s3: putting clicks\/files\/\S+ into \S+: 403 SignatureDoesNotMatch/);
    const replay = await run(wrong, ["replay", "--from-archive", s3Url()]);
    expect(replay.code).toBe(1);
    expect(replay.err).toMatch(/^sluice: s3: listing clicks\/manifest\/ in \S+: 403 SignatureDoesNotMatch/);
    expect(replay.err.split("\n")).toHaveLength(1);
    const none = { EVENT_LOG_URL: journal.url, CLICK_STORE_URL: storeUrl() };
    expect((await runHere(none, ["archive", s3Url()])).err).toBe(
      "sluice: s3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing",
    );
    const right = await runHere(env(journal.url), ["archive", s3Url()]);
    expect(right.out).toEqual(["301 records archived in 1 files"]);
  });

  test("a file that is damaged and one that is gone are named, the others are stored, and the status says it", async () => {
    await using journal = await openJournal();
    await using dir = await tempDir();
    const url = `file://${dir.path}`;
    await runHere(env(journal.url), ["archive", url, "--file-size", "16"]);
    const folder = join(dir.path, "clicks", "files");
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".zst"));
    expect(files.length).toBeGreaterThan(3);
    const [damaged = "", gone = ""] = files;
    const bytes = await readFile(join(folder, damaged));
    await writeFile(join(folder, damaged), bytes.fill(0, 20, 30));
    await rm(join(folder, gone));
    for (const dryRun of [["--dry-run"], []]) {
      const { code, out, err } = await run(env(journal.url), ["replay", "--from-archive", url, ...dryRun]);
      expect(code).toBe(1);
      expect(err).toContain(`clicks/files/${damaged}: its SHA-256 is `);
      expect(err).toContain(`clicks/files/${gone}: it is not there`);
      expect(out[0]).toContain("; 2 FILES COULD NOT BE READ");
    }
    expect(Number(await ask("SELECT count() FROM click_events"))).toBeGreaterThan(clickCount / 3);
  });

  test("following, it goes on with what comes, says each file, and ends in peace when asked to", async () => {
    await using journal = await openJournal();
    await using dir = await tempDir();
    const url = `file://${dir.path}`;
    const options = ["archive", url, "--follow", "--max-age", "1"];
    const child = spawn(process.execPath, [main, ...options], { env: env(journal.url) });
    const ended = once(child, "close");
    const lines = createInterface(child.stdout);
    const first: unknown[] = await once(lines, "line");
    expect(first[0]).toMatch(/^clicks\/files\/\S+\.zst: 301 records, \d+ bytes$/);
    child.kill("SIGTERM");
    const last: unknown[] = await once(lines, "line");
    expect(last).toEqual(["301 records archived in 1 files"]);
    expect(await ended).toEqual([0, null]);
    const after = await runHere(env(journal.url), ["archive", url]);
    expect(after.out).toEqual(["0 records archived in 0 files"]);
  });

  test("following, it tells Prometheus how far behind it is, and that the storage refuses what it has", async () => {
    await using journal = await openJournal();
    const answers = Array<string>(1_000).fill("503 SlowDown");
    await using flaky = await openFlaky(services().s3.url, answers);
    const options = ["archive", s3Url(flaky.url), "--follow", "--file-size", "64", "--ops-port", "0"];
    const child = spawn(process.execPath, [main, ...options], { env: env(journal.url) });
    const ended = once(child, "close");
    const said: unknown[] = await once(createInterface(child.stderr), "line");
    const port = /^metrics are at port (\d+)$/.exec(String(said[0]))?.[1];
    const shown = async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const behind = /^event_log_lag_bytes\{.*group="archive".*\} [1-9]/m;
    await expect.poll(shown, { timeout: 30_000 }).toMatch(behind);
    await expect.poll(shown, { timeout: 30_000 }).toMatch(/^sluice_degraded\{what="archive"\} 1$/m);
    answers.length = 0;
    await expect.poll(shown, { timeout: 30_000 }).toMatch(/^sluice_degraded\{what="archive"\} 0$/m);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});

test("--ops-port without --follow is refused", async () => {
  const env = { EVENT_LOG_URL: "journal:///nowhere" };
  const { err } = await runHere(env, ["archive", "file:///nowhere", "--ops-port", "9105"]);
  expect(err).toBe("sluice: --ops-port goes with --follow");
});

test("a Redis stream that does not hold records for the archive's group is not archived, and what to change is said", async () => {
  const env = { EVENT_LOG_URL: "redis://127.0.0.1:1/0?groups=store,fanout&maxLength=60000" };
  const { code, err } = await runHere(env, ["archive", "file:///nowhere"]);
  expect(code).toBe(1);
  expect(err).toContain(
    'nothing for the group "archive": EVENT_LOG_URL must say groups=store,fanout,archive instead',
  );
  expect(err).toContain("SLUICE_EVENT_LOG_URL in .env");
});

test("a file larger than a log hands over at once is refused", async () => {
  const env = { EVENT_LOG_URL: "journal:///nowhere" };
  const { err } = await runHere(env, ["archive", "file:///nowhere", "--file-size", "4097"]);
  expect(err).toBe("sluice: --file-size takes 1 to 4096 KiB, got 4097");
});

/** Stands before an S3 server, and answers the first requests so. */
async function openFlaky(target: string, left: string[]) {
  const server = createServer((incoming, outgoing) => {
    const answer = left.shift();
    if (answer === "cut") {
      incoming.socket.resetAndDestroy();
    } else if (answer !== undefined) {
      const [status = "", code = ""] = answer.split(" ");
      outgoing.writeHead(Number(status)).end(`<Error><Code>${code}</Code><Message>words</Message></Error>`);
    } else {
      // With the `Host` that was signed.
      const { method, headers, url = "" } = incoming;
      const forwarded = request(new URL(url, target), { method, headers }, (answered) => {
        outgoing.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(outgoing);
      });
      incoming.pipe(forwarded);
    }
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
