import { randomUUID } from "node:crypto";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import type { AuditRow } from "./audit-store.ts";
import { openAuditStore } from "./open-audit.ts";
import { connect, sql } from "./testing/raw-postgres.ts";
import { openTestStore } from "./testing/store.ts";

const ts = 1_790_000_000_123;

function rowOf(fields: Partial<AuditRow> = {}): AuditRow {
  const event = '{"v":1,  "user_agent":"a \\u0000 and 😀"}';
  return { eventId: randomUUID(), ts, workspaceId: 1, linkId: 2 ** 40, event, ...fields };
}

const open = async () => {
  await using stack = new AsyncDisposableStack();
  const { url, store } = stack.use(await openTestStore());
  const audit = stack.use(openAuditStore(url, { log: silentLog }));
  const opened = stack.move();
  return { url, store, audit, [Symbol.asyncDispose]: () => opened.disposeAsync() };
};

describeWith("audit rows on a real Postgres", open, (world) => {
  test("are kept byte for byte, once, and know whether they were late", async () => {
    const { audit } = world();
    const [first, second, third] = [rowOf(), rowOf({ ts: ts + 1 }), rowOf({ ts: ts + 2 })];
    await audit.record(first);
    await audit.record({ ...first, event: "{}" });
    expect(await audit.recordLate([first, second, third])).toBe(2);
    expect(await audit.recordLate([first, second, third])).toBe(0);
    expect(await audit.list({ fromTs: ts, toTs: ts + 3, limit: 10 })).toMatchObject([
      { ...first, late: false },
      { ...second, late: true },
      { ...third, late: true },
    ]);
    const unknown = randomUUID();
    expect(await audit.audited([third.eventId, unknown])).toEqual(new Set([third.eventId]));
  });

  test("are listed in pages, in order of time and id, up to but not with the end", async () => {
    const { audit } = world();
    const from = ts + 100_000;
    await audit.recordLate(Array.from({ length: 25 }, (_, index) => rowOf({ ts: from + (index >> 2) })));
    const seen: { ts: number; eventId: string }[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await audit.list({ fromTs: from, toTs: from + 6, limit: 7, ...(after && { after }) });
      seen.push(...page);
      if (page.length < 7) break;
    }
    expect(seen).toHaveLength(24);
    expect(new Set(seen.map(({ eventId }) => eventId)).size).toBe(24);
    expect(seen.map((row) => row.ts)).toEqual(seen.map((row) => row.ts).toSorted((a, b) => a - b));
  });

  test("cannot be changed or taken away, by their owner neither", async () => {
    const { url, audit } = world();
    await audit.record(rowOf());
    for (const statement of [
      "UPDATE click_audit SET late = true",
      "DELETE FROM click_audit",
      "TRUNCATE click_audit",
    ]) {
      await expect(sql(url, statement)).rejects.toThrow("only ever added to");
    }
  });

  test("can be added by a role that may do nothing else with them", async () => {
    const { url } = world();
    const role = `edge_${randomUUID().slice(0, 8)}`;
    await sql(url, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await sql(url, `GRANT INSERT ON click_audit TO ${role}`);
    const own = new URL(url);
    own.username = role;
    own.password = "x";
    await using audit = openAuditStore(own.href, { log: silentLog });
    const row = rowOf();
    await audit.record(row);
    await audit.record(row);
    await using client = await connect(own.href);
    for (const statement of [
      "UPDATE click_audit SET late = true",
      "DELETE FROM click_audit",
      "SELECT FROM click_audit",
    ]) {
      await expect(client.query(statement)).rejects.toThrow("permission denied");
    }
    await client.end();
    await sql(url, `DROP OWNED BY ${role}`);
    await sql(url, `DROP ROLE ${role}`);
  });

  test("a workspace asks for them, and its links say so", async () => {
    const { audit, store } = world();
    const { position } = await store.changes(0, 1);
    await store.create({ domain: "a.example", slug: "audited", destination: "https://example.com/" });
    expect(await audit.workspaces()).toEqual(new Map());
    await audit.setMode("one", "refuse");
    const link = await store.resolve("a.example", "audited");
    expect(link?.audit).toBe("refuse");
    expect(await audit.workspaces()).toEqual(new Map([[link?.workspaceId, "refuse"]]));
    const { changes } = await store.changes(position, 10);
    expect(changes[0]).toMatchObject({ domain: null, slug: null });
    await audit.setMode("one", undefined);
    expect(await store.resolve("a.example", "audited")).not.toHaveProperty("audit");
    await expect(audit.setMode("nobody", "redirect")).rejects.toMatchObject({ code: "not-found" });
  });
});
