import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { openRunChecks } from "@sluice/click-store/run-checks.ts";
import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { run } from "../testing/run.ts";

async function openStores() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  const clickhouse = stack.use(await testClickHouse());
  const env = {
    DATABASE_URL: postgres.url,
    CLICK_STORE_URL: `${clickhouse.url}/${clickhouse.database}`,
  };
  await run(env, ["migrate"]);
  const audit = stack.use(openAuditStore(env.DATABASE_URL, { log: silentLog }));
  const clicks = stack.use(
    await openClickStore(env.CLICK_STORE_URL, { log: silentLog, metrics: createMetrics() }),
  );
  const opened = stack.move();
  return { env, audit, clicks, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const noon = Date.parse("2026-11-30T12:00:00Z");
const range = ["--from", "2026-11-30T12:00:00Z", "--to", "2026-11-30T12:01:00Z"];
const enrich = createEnricher({ cacheSize: 10 });
const signal = new AbortController().signal;

describeWith("audit rows from the command line", openStores, (stores) => {
  const sluice = (...args: string[]) => run(stores().env, args);
  const edge_run = uuidv7(noon);
  let workspaceId = 0;

  const clickOf = (edge_seq: number): ClickEvent =>
    sampleClick({
      event_id: uuidv7(noon),
      edge_run,
      edge_seq,
      ts: noon + edge_seq,
      workspace_id: workspaceId,
    });
  function audited(click: ClickEvent) {
    const { event_id: eventId, ts, link_id: linkId } = click;
    return { eventId, ts, linkId, workspaceId, event: JSON.stringify(click) };
  }
  async function store(...events: ClickEvent[]): Promise<void> {
    const rows = events.map((event) => stores().clicks.encodeClick(event, enrich(event)));
    await stores().clicks.insertClicks(rows, { signal, onTrouble() {} });
  }

  beforeAll(async () => {
    await sluice("domain", "add", "a.example.com", "--workspace", "acme");
    await sluice("audit", "set", "acme", "refuse");
    workspaceId = [...(await stores().audit.workspaces()).keys()][0] ?? 0;
  });

  test("a mode or a workspace that is not there is a clear error", async () => {
    expect(await sluice("audit", "set", "acme", "maybe")).toMatchObject({ code: 1 });
    const { code, err } = await sluice("audit", "set", "nobody", "off");
    expect({ code, err }).toEqual({ code: 1, err: "sluice: there is no workspace nobody" });
    expect((await sluice("audit", "export", "--from", "yesterday")).err).toContain("takes a date");
  });

  test("are exported as the bytes they are, oldest first", async () => {
    const [first, second] = [clickOf(1), clickOf(2)];
    await stores().audit.record({ ...audited(second), event: '{"v":1,  "x":"\\u0000"}' });
    await stores().audit.recordLate([audited(first)]);
    const { code, out } = await sluice("audit", "export", ...range);
    expect(code).toBe(0);
    expect(out).toHaveLength(2);
    expect(JSON.parse(out[0] ?? "")).toMatchObject({
      event_id: first.event_id,
      ts: "2026-11-30T12:00:00.001Z",
      workspace_id: workspaceId,
      late: true,
      event: first,
    });
    expect(out[1]).toMatch(/,"late":false,.*,"event":\{"v":1, {2}"x":"\\u0000"\}\}$/);
    await store(first, second);
  });

  test("that agree with table and numbers are well; each difference is a line, and exit status 1", async () => {
    expect(await sluice("reconcile", ...range)).toMatchObject({ code: 0, out: [] });
    const [lost, unaudited] = [clickOf(3), clickOf(5)];
    await stores().audit.record(audited(lost));
    await store(unaudited);
    const { code, out, err } = await sluice("reconcile", ...range);
    expect(code).toBe(1);
    expect(out).toEqual([
      `audited, not in the table  ${lost.event_id}  2026-11-30T12:00:00.003Z`,
      `in the table, not audited  ${unaudited.event_id}  2026-11-30T12:00:00.005Z`,
      `missing numbers  ${edge_run}  3 to 4`,
    ]);
    expect(err).toContain("3 audit rows, 1 not in the table; 3 audited clicks in the table, 1 without a row");
  });

  test("without a time, the numbers of runs are looked at from where they were last, and losses can be accepted", async () => {
    await using checks = await openRunChecks(stores().env.CLICK_STORE_URL);
    await checks.note([edge_run], signal);
    const first = await sluice("reconcile");
    expect(first).toMatchObject({
      code: 0,
      out: [expect.stringMatching(new RegExp(`^suspected {2}${edge_run} {2}3 to 4 {2}between .* found `))],
    });
    const open = await checks.openHoles(10, signal);
    await checks.saveHoles(
      open.map((hole) => ({ ...hole, foundAt: noon, state: "open" })),
      signal,
    );
    const { code, out, err } = await sluice("reconcile");
    expect({ code, lines: out.length }).toEqual({ code: 1, lines: 1 });
    expect(out[0]).toContain(
      `${edge_run}  3 to 4  between 2026-11-30T12:00:00.002Z and 2026-11-30T12:00:00.005Z`,
    );
    expect(err).toContain("1 runs checked; 2 clicks missing, 0 may be under way");
    expect(await sluice("reconcile", "--accept")).toMatchObject({ code: 0 });
    expect(await sluice("reconcile")).toMatchObject({ code: 0, out: [] });
  });
});
