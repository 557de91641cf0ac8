import type { StoredAuditRow } from "@sluice/link-store/audit-store.ts";
import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, it } from "vitest";

import { visit } from "./testing/http.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { openJournal, openWorld } from "./testing/world.ts";

/** Links `plain`, `sent` of a workspace in mode `redirect` and `kept` of one in mode `refuse`; and their rows. */
async function openAudited() {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openWorld());
  const audit = stack.use(openAuditStore(world.postgres.url, { log: silentLog }));
  const workspaceOf = new Map<string, number>();
  for (const [slug, mode] of [
    ["plain", undefined],
    ["sent", "redirect"],
    ["kept", "refuse"],
  ] as const) {
    const { workspaceId } = await world.store.ensureDomain(`${slug}.example.com`, slug);
    await world.store.markVerified(`${slug}.example.com`);
    const destination = `https://example.com/${slug}`;
    await world.store.create({ domain: `${slug}.example.com`, slug, destination });
    await audit.setMode(slug, mode);
    workspaceOf.set(slug, workspaceId);
  }
  const opened = stack.move();
  return {
    postgres: world.postgres,
    /** Of one workspace, oldest first. */
    async rows(slug: string): Promise<StoredAuditRow[]> {
      const page = await audit.list({ fromTs: 0, toTs: 4_000_000_000_000, limit: 10_000 });
      return page.filter(({ workspaceId }) => workspaceId === workspaceOf.get(slug));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const to = (port: number, slug: string) =>
  visit(port, `/${slug}`, { headers: { host: `${slug}.example.com` } });
const names = (row: StoredAuditRow | undefined): unknown => JSON.parse(row?.event ?? "null");

describeWith("an edge with audited workspaces", openAudited, (world) => {
  it("has a row for each of their clicks by the time that it answers, and none for others", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start({ env: { AUDIT: "on" } });
    for (const slug of ["sent", "kept"]) {
      const before = (await world().rows(slug)).length;
      expect(await to(edge.port, slug)).toMatchObject({ status: 302 });
      const rows = await world().rows(slug);
      expect(rows).toHaveLength(before + 1);
      expect(rows.at(-1)).toMatchObject({ late: false });
    }
    expect(await to(edge.port, "plain")).toMatchObject({ status: 302 });
    expect(await world().rows("plain")).toEqual([]);

    const [sent, kept] = [await world().rows("sent"), await world().rows("kept")];
    const { clicks } = await journal.read();
    expect(clicks.map(({ slug }) => slug)).toEqual(["sent", "kept", "plain"]);
    expect(names(sent.at(-1))).toEqual(clicks[0]);
    // It had no place in a run yet.
    expect(clicks[1]).toMatchObject({ event_id: kept.at(-1)?.eventId, slug: "kept", edge_seq: 2 });
    expect(names(kept.at(-1))).not.toHaveProperty("edge_seq");
  });

  it("without Postgres redirects the ones, refuses the others, and adds the rows that are owed", async () => {
    await using proxy = await openTcpProxy(world().postgres.url);
    await using journal = await openJournal(proxy.url);
    const env = { AUDIT: "on", DATABASE_URL: proxy.url };
    await using edge = await journal.start({ env });
    for (const slug of ["sent", "kept"]) expect(await to(edge.port, slug)).toMatchObject({ status: 302 });
    const before = { sent: await world().rows("sent"), kept: await world().rows("kept") };

    await until("it is ready", async () => (await readyz(edge)).ready);
    proxy.hang();
    const answers = await Promise.all(Array.from({ length: 20 }, () => to(edge.port, "sent")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect(await to(edge.port, "kept")).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    await expect.poll(() => readyz(edge)).toMatchObject({ ready: true, report: { status: "degraded" } });
    expect(await world().rows("sent")).toHaveLength(before.sent.length);

    // Killed with what it owes; the next one finds it in the journal.
    edge.kill("SIGKILL");
    await edge.exited;
    proxy.flow();
    proxy.cut();
    await using next = await journal.start({ env });
    await until("what was owed is there", async () => {
      return (await world().rows("sent")).length === before.sent.length + 20;
    });
    const rows = (await world().rows("sent")).slice(before.sent.length);
    expect(rows.every(({ late }) => late)).toBe(true);
    expect(await world().rows("kept")).toHaveLength(before.kept.length);
    const { clicks, ranges } = await journal.read();
    expect(clicks.filter(({ slug }) => slug === "kept")).toHaveLength(1);
    expect(clicks.map(({ edge_seq }) => edge_seq)).toEqual(
      Array.from({ length: 22 }, (_, index) => index + 1),
    );
    expect(ranges).toEqual([]);
    expect(rows.map(names)).toEqual(clicks.slice(2));
    expect(await to(next.port, "kept")).toMatchObject({ status: 302 });
    expect(await metric(next, 'edge_audit_rows_total{outcome="late"}')).toBe(20);
  });

  it("with AUDIT off writes rows in time, and says that late ones are missing", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start();
    const before = (await world().rows("sent")).length;
    expect(await to(edge.port, "sent")).toMatchObject({ status: 302 });
    expect(await world().rows("sent")).toHaveLength(before + 1);
    await expect.poll(() => readyz(edge)).toMatchObject({ ready: true, report: { status: "degraded" } });
    expect(edge.output()).toContain("AUDIT is off");
  });
});
