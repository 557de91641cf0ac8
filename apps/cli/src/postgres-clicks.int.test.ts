import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";

import { run } from "./testing/run.ts";

const at = Date.parse("2026-11-30T12:00:00Z");
const options = { signal: new AbortController().signal, onTrouble() {} };

describeWith("the command line, with links and clicks in one Postgres", testPostgres, (postgres) => {
  const sluice = (...args: string[]) => {
    const { url } = postgres();
    return run({ DATABASE_URL: url, CLICK_STORE_URL: url }, args);
  };

  test("migrates both, and again changes nothing", async () => {
    for (let time = 0; time < 2; time += 1) {
      const { code, out } = await sluice("migrate");
      expect([code, out.at(-2), out.at(-1)]).toEqual([
        0,
        "links: Postgres is at this version",
        "clicks: Postgres is at this version",
      ]);
    }
  });

  test("finds holes in the numbers, lists dead letters and discards them", async () => {
    await using store = await openClickStore(postgres().url, { log: silentLog, metrics: createMetrics() });
    const edge_run = uuidv7(at);
    const enrich = createEnricher({ cacheSize: 10 });
    const events = [1, 2, 5].map((edge_seq) =>
      sampleClick({ event_id: uuidv7(at), edge_run, edge_seq, ts: at + edge_seq }),
    );
    await store.insertClicks(
      events.map((event) => store.encodeClick(event, enrich(event))),
      options,
    );
    const range = ["--from", "2026-11-30T12:00:00Z", "--to", "2026-11-30T12:01:00Z"];
    expect(await sluice("reconcile", ...range)).toMatchObject({
      code: 1,
      out: [`missing numbers  ${edge_run}  3 to 4`],
    });

    const texts = {
      log: "journal",
      topic: "clicks",
      recordId: "1",
      key: "k",
      reason: "not-json",
      error: "no",
    };
    const letter = { ...texts, version: "1.2.3", appendedAt: at, value: Buffer.from("?"), number: 0 };
    await store.insertDeadLetters([letter], options);
    const listed = await sluice("dead-letters", "list");
    expect(listed).toMatchObject({ code: 0, err: "" });
    expect(listed.out).toEqual([expect.stringMatching(/journal\/clicks\/1 {2}1 bytes {2}not-json: no$/)]);
    expect((await sluice("dead-letters", "show", "journal/clicks/1")).out.at(-1)).toBe("?");
    expect(await sluice("dead-letters", "discard", "--id", "journal/clicks/1")).toMatchObject({ code: 0 });
    expect((await sluice("dead-letters", "list")).out).toEqual([]);
    expect((await sluice("dead-letters", "list", "--state", "discarded")).out).toHaveLength(1);
  });
});
