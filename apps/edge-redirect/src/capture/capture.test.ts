import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";

import { silentLog } from "@sluice/service/log.ts";
import { createMetrics, type Metrics } from "@sluice/service/metrics.ts";
import { beforeEach, describe, expect, it } from "vitest";

import { unknownEquipment } from "../rules/equipment.ts";
import { createMemoryWriter, type MemoryWriter } from "../testing/memory-writer.ts";
import type { AuditMode, AuditRow } from "@sluice/link-store/audit-store.ts";
import { type Capture, type ClickedLink, openCapture } from "./capture.ts";
import { encodeLink } from "./encode-click.ts";
import { captureMetrics } from "./metrics.ts";
import { peerAddress } from "../client/client-address.ts";
import { createReferrers } from "./referrer.ts";
import type { Visitor } from "./visitors.ts";

const link = {
  id: 42,
  workspaceId: 7,
  domain: "go.example.com",
  slug: "summer",
  destination: "https://example.com/",
  status: 302,
  disabled: false,
} as const;
const clicked: ClickedLink = {
  linkId: 42,
  workspaceId: 7,
  json: encodeLink(link),
  bot: 0,
  audit: undefined,
};
const visitor: Visitor = {
  id: "",
  workspaceId: 7,
  country: "DE",
  region: "",
  userAgent: "a",
  equipment: unknownEquipment,
  bot: 0,
  untracked: false,
  json: '"country":"DE","region":"","city":"","asn":0,"visitor":"","user_agent":"a","client_hints":{},"gpc":false',
};

const address = "192.0.2.77";

function get(method = "GET", headers: Record<string, string> = {}): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: address });
  return Object.assign(new IncomingMessage(socket), { method, headers });
}

interface Trial {
  readonly capture: Capture & AsyncDisposable;
  readonly writer: MemoryWriter;
  readonly metrics: Metrics;
  /** What health was told last. */
  reason: string | undefined;
  /** What was logged as an error. */
  readonly said: string[];
  describe: (address: string) => Visitor;
  audit: (row: AuditRow) => Promise<boolean>;
}

let trial: Trial;
beforeEach(async () => {
  const metrics = createMetrics();
  const said: string[] = [];
  let writer: MemoryWriter | undefined;
  const capture = await openCapture({
    edge: "fra1",
    openJournal: async (run) => (writer = createMemoryWriter(run)),
    addressOf: peerAddress,
    visitors: { describe: (from) => trial.describe(from), forget() {} },
    readReferrer: createReferrers((domain) => domain === "spam.example"),
    auditor: { record: (row) => trial.audit(row) },
    metrics: captureMetrics(metrics),
    health: { degraded: (_name, reason) => (trial.reason = reason) },
    log: { ...silentLog, error: (...line) => void said.push(inspect(line)) },
    now: () => 1_750_000_000_000,
  });
  if (writer === undefined) throw new Error("no journal was opened");
  trial = {
    capture,
    writer,
    metrics,
    reason: undefined,
    said,
    describe: () => visitor,
    audit: async () => true,
  };
});

/** Records so many clicks; gives those that may be answered, as it grows. */
function record(count: number): number[] {
  const answered: number[] = [];
  for (let click = 1; click <= count; click += 1) {
    trial.capture.record(get(), clicked, "", () => answered.push(click));
  }
  return answered;
}

function counted(): Promise<string> {
  return trial.metrics.render().then(({ body }) => body);
}

describe("a click", () => {
  it("is answered only once it is in the journal", () => {
    const answered = record(3);
    expect(answered).toEqual([]);
    trial.writer.endTurn();
    expect(answered).toEqual([1, 2, 3]);
    expect(trial.writer.records).toMatchObject(
      [1, 2, 3].map((edge_seq) => ({ kind: "click", event: { edge_seq } })),
    );
  });

  it("says what was clicked, how, and from where", () => {
    const headers = { referer: "https://news.example.org/x", "sec-purpose": "prefetch;prerender" };
    trial.capture.record(get("HEAD", headers), clicked, "utm_source=mail&qr=1", () => {});
    trial.writer.endTurn();
    const [click] = trial.writer.records;
    expect(click).toMatchObject({
      kind: "click",
      event: {
        edge: "fra1",
        edge_run: trial.writer.run,
        edge_seq: 1,
        ts: 1_750_000_000_000,
        workspace_id: 7,
        link_id: 42,
        domain: "go.example.com",
        slug: "summer",
        destination: "https://example.com/",
        status: 302,
        method: "HEAD",
        country: "DE",
        referrer_domain: "news.example.org",
        prefetch: true,
        qr: true,
        utm: { source: "mail" },
      },
    });
  });

  it("adds up the reasons against a person that agent, network, referrer and link give", async () => {
    trial.describe = (from) => ({ ...visitor, bot: from === address ? 8 : 0 });
    const headers = { referer: "https://spam.example/" };
    trial.capture.record(get("GET", headers), { ...clicked, bot: 32 }, "", () => {});
    trial.writer.endTurn();
    expect(trial.writer.records).toMatchObject([{ event: { bot: 8 | 16 | 32 } }]);
  });

  it("of a visitor who asks for it, and is heard, keeps no referrer and no click id", () => {
    trial.describe = () => ({ ...visitor, untracked: true });
    const headers = { referer: "https://news.example.org/" };
    trial.capture.record(get("GET", headers), clicked, "gclid=x&utm_source=mail", () => {});
    trial.writer.endTurn();
    expect(trial.writer.records).toMatchObject([
      { event: { referrer_domain: "", click_ids: {}, utm: { source: "mail" } } },
    ]);
  });

  it("is foretold: who asks, and whether as a person", () => {
    expect(trial.capture.identify(get(), clicked)).toEqual(visitor);
    const isHuman = (request: IncomingMessage, by = clicked) => trial.capture.isHuman(request, by);
    expect(isHuman(get())).toBe(true);
    expect(isHuman(get("HEAD"))).toBe(false);
    expect(isHuman(get("GET", { "sec-purpose": "prefetch" }))).toBe(false);
    expect(isHuman(get("GET", { referer: "https://spam.example/" }))).toBe(false);
    expect(isHuman(get(), { ...clicked, bot: 32 })).toBe(false);
    trial.describe = () => ({ ...visitor, bot: 1 });
    expect(isHuman(get())).toBe(false);
  });

  it("that was foretold is by the same visitor, who is worked out once", () => {
    let asked = 0;
    trial.describe = () => ({ ...visitor, bot: (asked += 1) });
    const [first, second] = [get(), get()];
    for (const request of [first, second]) trial.capture.identify(request, clicked);
    for (const request of [second, first, second]) trial.capture.record(request, clicked, "", () => {});
    trial.writer.endTurn();
    const bots = trial.writer.records.map((each) => each.kind === "click" && each.event.bot);
    // The last one foretold is remembered, for its one click.
    expect(bots).toEqual([2, 3, 4]);
  });

  it("that finds no room is answered, uses up its number, is counted by why, and health says so until it is over", async () => {
    trial.writer.refuse = "full";
    const refused = record(2);
    trial.writer.endTurn();
    expect(refused).toEqual([1, 2]);
    expect(trial.reason).toContain("full");
    trial.writer.refuse = undefined;
    record(1);
    trial.writer.endTurn();
    expect(trial.reason).toBeUndefined();
    expect(trial.writer.records).toMatchObject([{ event: { edge_seq: 3 } }]);
    expect(await counted()).toContain('edge_clicks_refused_total{reason="full"} 2');
    expect(await counted()).toContain("edge_clicks_accepted_total 1");
    await trial.capture[Symbol.asyncDispose]();
    expect(trial.writer.records.at(-1)).toMatchObject({
      kind: "refused-range",
      range: { from_seq: 1, to_seq: 2 },
    });
  });

  it("that cannot be encoded is answered all the same, its number accounted for, its address not logged", async () => {
    trial.describe = () => {
      throw new Error("a damaged database");
    };
    expect(record(1)).toEqual([1]);
    expect(trial.said).toEqual([expect.stringContaining("a damaged database")]);
    expect(trial.said.join()).not.toContain(address);
    trial.describe = () => visitor;
    record(1);
    await trial.capture[Symbol.asyncDispose]();
    expect(trial.writer.records).toMatchObject([
      { kind: "click", event: { edge_seq: 2 } },
      { kind: "refused-range", range: { from_seq: 1, to_seq: 1, reason: "error" } },
    ]);
  });

  it("in hand when the edge stops is journaled before the journal is closed", async () => {
    const answered = record(2);
    await trial.capture[Symbol.asyncDispose]();
    expect(answered).toEqual([1, 2]);
    expect(trial.writer.closed).toBe(true);
  });
});

/** Records one. `settle` is what becomes of its row; `turn` lets everything happen that can. */
function recordAudited(audit: AuditMode) {
  const { promise, resolve: settle } = Promise.withResolvers<boolean>();
  const rows: AuditRow[] = [];
  trial.audit = (row) => {
    rows.push(row);
    return promise;
  };
  const answers: (string | undefined)[] = [];
  trial.capture.record(get(), { ...clicked, audit }, "", (eventId) => answers.push(eventId));
  const turn = async () => {
    trial.writer.endTurn();
    await nextTurn();
  };
  return { rows, answers, settle, turn };
}

describe("a click of an audited workspace", () => {
  it("that is redirected anyway is journaled, has its row, and then is answered", async () => {
    const { rows, answers, settle, turn } = recordAudited("redirect");
    expect(rows).toEqual([]);
    await turn();
    const [click] = trial.writer.records;
    const event = click?.kind === "click" ? click.event : undefined;
    const { event_id: eventId = "", ts = 0 } = event ?? {};
    expect(rows).toMatchObject([{ eventId, ts, workspaceId: 7, linkId: 42 }]);
    expect(JSON.parse(rows[0]?.event ?? "")).toEqual(event);
    expect(answers).toEqual([]);
    settle(false);
    await turn();
    expect(answers).toEqual([eventId]);
  });

  it("that is refused without one has its row, is journaled, and then is answered", async () => {
    const { rows, answers, settle, turn } = recordAudited("refuse");
    await turn();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.event).not.toContain("edge_seq");
    expect(trial.writer.records).toEqual([]);
    settle(true);
    await nextTurn();
    expect(answers).toEqual([]);
    await turn();
    expect(answers).toEqual([rows[0]?.eventId]);
    expect(trial.writer.records).toMatchObject([{ event: { event_id: rows[0]?.eventId, edge_seq: 1 } }]);
  });

  it("that is refused without one, and has none, is no click and uses up no number", async () => {
    const { answers, settle, turn } = recordAudited("refuse");
    settle(false);
    await turn();
    expect(answers).toEqual([undefined]);
    record(1);
    await turn();
    expect(trial.writer.records).toMatchObject([{ event: { edge_seq: 1 } }]);
  });
});
