import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type EdgeProcess, runEdge } from "./testing/edge-process.ts";
import { visit } from "./testing/http.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { type Journal, numbersByRun, openJournal, openWorld } from "./testing/world.ts";

/** What the exit status of sysexits.h tells a supervisor: do not start it again. */
const configExitCode = 78;
const DATABASE_URL = "postgres://127.0.0.1:1/none";

describeWith("an edge that cannot start", tempDir, (dir) => {
  const inDir = (name: string) => join(dir().path, name);
  const journalAt = (name: string) => `journal://${inDir(name)}?groups=store&reserveBytes=0`;

  it("names every setting that is missing or wrong, at once", async () => {
    const { code, output } = await runEdge({ env: { EDGE_WORKERS: "0", EVENT_LOG_URL: "http://x" } });
    expect(code).toBe(configExitCode);
    for (const name of ["DATABASE_URL", "EVENT_LOG_URL", "EDGE_WORKERS"]) expect(output).toContain(name);
  });

  it.each([
    [
      "a file where its folder should be",
      { EVENT_LOG_URL: "kafka://127.0.0.1:1", JOURNAL_DIR: "/dev/null/journal" },
      "JOURNAL_DIR",
    ],
    ["a journal URL that is none", { EVENT_LOG_URL: "journal:///tmp/x?groups=a&budget=1" }, "EVENT_LOG_URL"],
    ["a geo database that is missing", { GEO_DB_PATH: "/nowhere/geo.mmdb" }, "GEO_DB_PATH"],
    ["a database of networks that is missing", { GEO_ASN_DB_PATH: "/nowhere/asn.mmdb" }, "GEO_ASN_DB_PATH"],
    ["a list that is missing", { SPAM_REFERRERS_PATH: "/nowhere/spam.txt" }, "SPAM_REFERRERS_PATH"],
    ["a proxy that is none", { TRUSTED_PROXIES: "loopback, 10.0.0.0/33" }, 'TRUSTED_PROXIES: "10.0.0.0/33"'],
    [
      "a header that is none",
      { CLIENT_ADDRESS_HEADER: "x forwarded" },
      "CLIENT_ADDRESS_HEADER takes a header",
    ],
    ["balancers that nobody named", { PROXY_PROTOCOL: "on" }, "PROXY_PROTOCOL: takes on only with"],
    ["a geo database that is none", { GEO_DB_PATH: "/etc/hostname" }, "/etc/hostname"],
  ])("says what to put right: %s", async (_, env, named) => {
    const { code, output } = await runEdge({
      env: { DATABASE_URL, EVENT_LOG_URL: journalAt("journal"), JOURNAL_DIR: inDir("own"), ...env },
    });
    expect(output).toContain(named);
    expect(code).toBe(configExitCode);
  });

  it("says so too when only its workers see it", async () => {
    const env = { EVENT_LOG_URL: journalAt("journal"), EDGE_WORKERS: "2", GEO_DB_PATH: "/nowhere/geo.mmdb" };
    const { code, output } = await runEdge({ env: { DATABASE_URL, ...env } });
    expect(output).toContain("GEO_DB_PATH");
    expect(code).toBe(configExitCode);
  });

  it("leaves a journal of a newer version alone", async () => {
    await mkdir(join(inDir("newer"), "clicks"), { recursive: true });
    await writeFile(join(inDir("newer"), "clicks", "FORMAT"), "2");
    const { code, output } = await runEdge({ env: { DATABASE_URL, EVENT_LOG_URL: journalAt("newer") } });
    expect(output).toContain("format 2");
    expect(code).toBe(configExitCode);
  });

  it("names the port that is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    const { code, output } = await runEdge({
      env: { DATABASE_URL, EVENT_LOG_URL: journalAt("journal"), PORT: port },
    });
    other.close();
    expect(output).toContain(`PORT=${port}`);
    expect(code).toBe(1);
  });
});

describeWith("an edge of several processes", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    await world().link("demo");
    journal = await openJournal(world().postgres.url);
    edge = await journal.start({ env: { EDGE_WORKERS: "2" } });
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });
  const asked = async (domain: string) =>
    (await fetch(`http://127.0.0.1:${edge.opsPort}/domains/ask?domain=${domain}`)).status;
  const bothReady = async () => (await metric(edge, "edge_workers_ready")) === 2;

  it("says at its one operations port of which domains certificates may be had", async () => {
    await until("a worker can be asked", async () => (await asked("go.example.com")) === 200);
    expect(await asked("go.example.org")).toBe(404);
    await until("both are ready", bothReady);
    const ports = edge.output().matchAll(/"port":(\d+),"msg":"operations server listening"/g);
    expect(new Set([...ports].map(([, port]) => port)).size).toBe(3);
  });

  describe("shares one port", () => {
    it("numbers clicks in a run for each, and starts again a process that is killed", async () => {
      await until("both are ready", bothReady);
      const click = async (count: number) => {
        for (let clicks = 0; clicks < count; clicks += 1)
          await visit(edge.port, "/demo").catch(() => undefined);
      };
      await click(10);
      const [worker = 0] = await childrenOf(edge.pid);
      process.kill(worker, "SIGKILL");
      await until("it is noticed", async () => !(await bothReady()));
      expect(await readyz(edge)).toMatchObject({ ready: true, report: { status: "degraded" } });
      await until("it is replaced", bothReady);
      await click(10);
      edge.kill("SIGTERM");
      expect(await edge.exited).toEqual({ code: 0, signal: null });

      const content = await journal.read();
      const runs = numbersByRun(content);
      expect(content.clicks).toHaveLength(20);
      expect(runs.size).toBe(3);
      for (const { missing } of runs.values()) expect(missing).toEqual([]);
    });
  });
});

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8")),
  );
  return lists.flatMap((list) => list.split(" ").filter((each) => each.trim() !== "")).map(Number);
}
