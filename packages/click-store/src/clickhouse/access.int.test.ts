import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";

import { openAnalysts } from "../analysts.ts";
import { openAttemptLog } from "../attempts.ts";
import { ClickStoreError, type ErrorCode } from "../click-store.ts";
import { checkRuns } from "../check-runs.ts";
import { openDeadLetters } from "../dead-letters.ts";
import { eraseDue } from "../erase.ts";
import { openErasures } from "../erasures.ts";
import { openClickStore } from "../open.ts";
import { openRunChecks } from "../run-checks.ts";
import { openStatistics } from "../statistics.ts";
import { enrichment, eventsOf, uuidv7 } from "../testing/clicks.ts";
import { connect } from "./connection.ts";
import { analystQuota, analystSettings, createStatements } from "./queries/analysts.ts";
import { createRollup } from "./rollup/open.ts";
import { openUsersServer, users, usersFile } from "./testing/users-server.ts";
import { never } from "./testing/world.ts";

// The users of docker-compose.yml, on ClickHouse's own HTTP interface.

/** The engine writes a limit in seconds as `60.`. */
const plain = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll(/(\d)\.(?= |,)/g, "$1");

const denied = { class: "operator", code: 497 };
const forbidden: Readonly<Record<string, readonly string[]>> = {
  ingester: [
    "SELECT count() FROM webhook_attempts",
    "INSERT INTO click_dead_letter_marks SELECT * FROM click_dead_letter_marks",
    "INSERT INTO click_store_migrations SELECT * FROM click_store_migrations",
    "ALTER TABLE click_events UPDATE destination = '' WHERE 1",
    "ALTER TABLE click_erasures DELETE WHERE 1",
    "TRUNCATE TABLE click_events",
    "DROP VIEW clicks",
  ],
  dispatcher: [
    "SELECT count() FROM clicks",
    "SELECT count() FROM click_events",
    "INSERT INTO click_events SELECT * FROM click_events",
    "ALTER TABLE webhook_attempts DELETE WHERE 1",
    "INSERT INTO click_erasures SELECT * FROM click_erasures",
  ],
  analyst: ["SELECT count() FROM click_dead_letters", "SELECT count() FROM webhook_attempts"],
  analyst_acme: ["SELECT count() FROM click_dead_letters", "SELECT count() FROM click_store_migrations"],
};
const forServices = [
  "CREATE TABLE mine (id UInt8) ENGINE = MergeTree ORDER BY id",
  "DROP TABLE click_events",
  "SYSTEM STOP MERGES click_events",
  "CREATE USER analyst_mine IDENTIFIED BY 'x'",
  "SELECT * FROM system.users",
];
const forAnalysts = [
  "SELECT count() FROM click_events",
  "INSERT INTO click_rollup SELECT * FROM click_rollup",
  "CREATE TEMPORARY TABLE mine (id UInt8)",
  "SELECT * FROM system.processes",
  "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
  "SELECT * FROM file('/etc/passwd', CSV, 'a String')",
  "SELECT * FROM remote('127.0.0.1', sluice.click_events)",
];

/** What a statement is refused with. */
async function refusal(statement: Promise<void>): Promise<ErrorCode> {
  try {
    await statement;
    return "allowed";
  } catch (error) {
    if (error instanceof ClickStoreError) return error.code;
    throw error;
  }
}

describeWith("ClickHouse's users", openUsersServer, (opened) => {
  const options = { signal: never, onTrouble() {} };

  async function insertFor(workspaceId: number) {
    await using store = await openClickStore(opened().as("ingester"), {
      log: silentLog,
      metrics: createMetrics(),
    });
    await store.ping();
    const events = eventsOf(uuidv7(), 3).map((event) => ({ ...event, workspace_id: workspaceId }));
    await store.insertClicks(
      events.map((event) => store.encodeClick(event, enrichment)),
      options,
    );
    const event = events.at(-1);
    if (event === undefined) throw new Error("no event");
    return event;
  }

  test("the ingester stores, looks up, counts ahead, checks runs and erases", async () => {
    const { as } = opened();
    const event = await insertFor(3);
    const { edge, edge_run, ts, workspace_id: workspaceId } = event;
    await using store = await openClickStore(as("ingester"), { log: silentLog, metrics: createMetrics() });
    expect(await store.highestStored(edge_run, ts, never)).toBe(3);
    await store.earlierInsertsSettled(never);
    const refused = {
      v: 1,
      kind: "refused",
      reason: "full",
      edge,
      edge_run,
      from_seq: 9,
      to_seq: 9,
      ts,
    } as const;
    await store.insertRefusedRanges([refused], options);
    const words = { log: "l", topic: "t", recordId: "1", key: "k", reason: "r", error: "e", version: "1" };
    await store.insertDeadLetters(
      [{ ...words, appendedAt: ts, value: new Uint8Array(), number: 1 }],
      options,
    );
    await using connection = connect(as("ingester"));
    const rollup = createRollup(connection, 0);
    expect(await rollup.lease("me", 60_000, never)).toBe(true);
    expect(await rollup.recount({ limit: 10, skip: 0 }, never)).toBeGreaterThan(0);
    await using checks = await openRunChecks(as("ingester"));
    await checks.note([edge_run], never);
    expect(await checkRuns(checks, options)).toMatchObject({ suspected: { holes: 1, numbers: 5 } });
    await using erasures = await openErasures(as("ingester"));
    await using letters = await openDeadLetters(as("ingester"));
    await erasures.add({ workspaceId, upTo: ts }, never);
    const erase = () => eraseDue(erasures, letters, { signal: never, knownAfterMs: 0 });
    await expect.poll(async () => (await erase()).pending, { timeout: 30_000 }).toBe(0);
    await expect
      .poll(() => opened().ask("migrator", "SELECT count() FROM clicks WHERE workspace_id = 3"))
      .toEqual(["0"]);
  });

  test("the dispatcher keeps its log of attempts, and hears of what was erased", async () => {
    await using attempts = await openAttemptLog(opened().as("dispatcher"), {
      log: silentLog,
      metrics: createMetrics(),
    });
    const words = {
      eventId: uuidv7(),
      eventType: "link.clicked",
      target: "ep_1",
      outcome: "delivered",
      code: "",
    };
    const numbers = { workspaceId: 1, ts: Date.now(), number: 1, status: 204, durationMs: 1, nextAt: 0 };
    await attempts.write([{ ...words, ...numbers, replayed: false, response: "" }], never);
    expect(await opened().ask("dispatcher", "SELECT count() FROM webhook_attempts")).toEqual(["1"]);
    await using erasures = await openErasures(opened().as("dispatcher"));
    expect(await erasures.list(AbortSignal.timeout(10_000))).toBeInstanceOf(Array);
  });

  test("an analyst sees all workspaces, a customer's its own alone, and both by the rollup as well", async () => {
    const { as, ask } = opened();
    const event = await insertFor(7);
    await insertFor(8);
    await using connection = connect(as("ingester"));
    await createRollup(connection, 0).recount({ limit: 10, skip: 0 }, never);
    for (const relation of ["clicks", "click_rollup"]) {
      const seen = `SELECT DISTINCT workspace_id FROM ${relation} WHERE workspace_id IN (7, 8) ORDER BY 1`;
      for (const user of ["analyst", "ingester", "migrator"])
        expect(await ask(user, seen)).toEqual(["7", "8"]);
      expect(await ask("analyst_acme", seen)).toEqual(["7"]);
    }
    for (const trick of [
      "SELECT count() FROM clicks WHERE workspace_id = 8 OR 1",
      "SELECT countIf(workspace_id = 8) FROM (SELECT * FROM clicks UNION ALL SELECT * FROM sluice.clicks)",
    ]) {
      const [count = ""] = await ask("analyst_acme", trick);
      expect(Number(count)).toBe(trick.includes("countIf") ? 0 : 3);
    }
    await using statistics = await openStatistics(as("analyst_acme"));
    const { workspace_id: workspaceId, link_id: linkId, ts } = event;
    const question = { linkId, fromTs: ts - 86_400_000, toTs: ts + 86_400_000 };
    expect(await ask("analyst_acme", `SELECT count() FROM clicks WHERE link_id = ${linkId}`)).toEqual(["3"]);
    await expect(statistics.totals({ ...question, workspaceId }, never)).rejects.toMatchObject(denied);
  });

  test.for(Object.keys(forbidden))("%s may do nothing else", async (user) => {
    const all = user.startsWith("analyst") ? forAnalysts : forServices;
    const allowed: string[] = [];
    for (const statement of [...(forbidden[user] ?? []), ...all]) {
      const code = await refusal(opened().tell(user, statement));
      if (code !== denied.code) allowed.push(`${code} ${statement}`);
    }
    expect(allowed).toEqual([]);
  });

  test("an analyst's limits can be lowered and never raised", async () => {
    const { askWith } = opened();
    for (const user of ["analyst", "analyst_acme"]) {
      expect(await askWith(user, "max_execution_time=30&max_threads=2")).toBe("1\n");
      for (const settings of [
        "max_execution_time=0",
        "max_execution_time=61",
        "max_memory_usage=0",
        "max_memory_usage=2000000001",
        "max_concurrent_queries_for_user=0",
        "readonly=0",
      ])
        expect(`${settings} ${await askWith(user, settings)}`).toMatch(/ Code: (?:452|164)\./);
    }
  });

  test("nobody gets in without the password, or as the user that ClickHouse comes with", async () => {
    for (const user of ["migrator", "ingester", "dispatcher", "analyst", "nobody"]) {
      await using connection = connect(opened().as(user, "wrong"));
      await expect(connection.select("SELECT 1", {}, never)).rejects.toMatchObject({ code: 516 });
    }
    expect(usersFile).toContain('<default remove="1"/>');
    expect([...users.matchAll(/<password>/g)]).toHaveLength(4);
  });

  test("what `sluice analyst` says makes what was tried here, and only the migrator may say it", async () => {
    const { as, ask, tell } = opened();
    const statements = createStatements("analyst_acme", 7, "ab".repeat(32));
    const spelt = await Promise.all(
      statements.map(
        async (text) => (await ask("default", `SELECT formatQuerySingleLine($x$${text}$x$)`))[0] ?? "",
      ),
    );
    const policies = (await ask("default", "SHOW CREATE ROW POLICIES")).map((line) =>
      line.replace("sluice.", ""),
    );
    expect(spelt.filter((line) => line.includes("ROW POLICY")).toSorted()).toEqual(policies.toSorted());
    const [profile = ""] = await ask("default", "SHOW CREATE SETTINGS PROFILE analyst");
    expect(plain(profile)).toContain(`SETTINGS ${plain(analystSettings)}`);
    expect(await ask("default", "SHOW CREATE QUOTA analyst")).toEqual([
      `CREATE QUOTA analyst ${analystQuota} TO analyst, analyst_acme`,
    ]);
    const grants = await ask("default", "SHOW GRANTS FOR analyst_acme");
    expect(grants.map((line) => line.replace("sluice.", "")).toSorted()).toEqual(
      statements.slice(-2).toSorted(),
    );
    // It may, but the server that runs here keeps nobody; whoever may not is told before.
    const attempt = async (user: string) => {
      await using analysts = await openAnalysts(as(user));
      await analysts?.create("new", 7, "x");
    };
    await expect(attempt("migrator")).rejects.toMatchObject({ code: 514 });
    for (const user of ["ingester", "dispatcher", "analyst"])
      await expect(attempt(user)).rejects.toMatchObject(denied);
    const other = statements[0]?.replaceAll("analyst_acme", "another") ?? "";
    await expect(tell("migrator", other)).rejects.toMatchObject(denied);
    await using analysts = await openAnalysts(as("migrator"));
    expect(await analysts?.list()).toEqual([{ user: "analyst_acme", workspaceId: 7 }]);
  });
});
