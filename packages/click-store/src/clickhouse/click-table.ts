import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import type { ScannedClick } from "@sluice/click-event/scanned-click.ts";
import type { Log } from "@sluice/service/log.ts";
import type { Line } from "../body.ts";
import { clickValues } from "../click-columns.ts";
import type { ClickRow, InsertOptions } from "../click-store.ts";
import type { Connection } from "./connection.ts";
import { ruleOf } from "./errors.ts";
import { deduplicatedSettings, insertOnce, maxRows, type Target } from "./insert.ts";
import type { ClickStoreMetrics } from "../metrics.ts";
import { createRowWriter } from "./native-row.ts";
import { encodeNative } from "./native.ts";
import { createPatience, pause, persist } from "../patience.ts";
import { insertClicksQuery, selectNumbers, sentColumns } from "./queries/click-events.ts";
import { selectInsertComments } from "./queries/system-processes.ts";
import { createScannedRowWriter } from "./scanned-row.ts";
import { rangesOf } from "./ranges.ts";
import type { Marker } from "./rollup/marker.ts";

/** Begins the `log_comment` of every insert of clicks, whichever process sends it. */
const prefix = "sluice-ingester/";
/** What has reached the server may not be on its list yet. Longer than it takes to begin an insert, and an upper bound. */
const unlistedMs = { least: 300, most: 5_000 };

export interface ClickTableOptions {
  readonly connection: Connection;
  /** Told of each batch before it is sent, so that its hours are counted again whatever becomes of us. */
  readonly marker: Marker;
  readonly owner: string;
  readonly log: Log;
  readonly metrics: ClickStoreMetrics;
}

/** The clicks' half of the store that has to be exact: inserts that happen once, whoever dies in between. */
export function createClickTable({ connection, marker, owner, log, metrics }: ClickTableOptions) {
  /** Comments of the inserts that this process waits for now; of those it gave up, the server may still run some. */
  const underWay = new Set<string>();
  const commentOf = (token: string) => `${prefix}${owner}/${token}`;

  async function send(rows: readonly ClickRow[], token: string, signal: AbortSignal): Promise<void> {
    const comment = commentOf(token);
    const body = () => encodeNative(sentColumns, rows.map(lineOf));
    const settings = { ...deduplicatedSettings(token), log_comment: comment };
    const insert = () => connection.insert(insertClicksQuery, body(), { id: token, settings, signal });
    underWay.add(comment);
    try {
      await marker.during(rows, signal, insert);
    } finally {
      underWay.delete(comment);
    }
  }

  function target(options: InsertOptions): Target<ClickRow> {
    const { signal } = options;
    return {
      send: (rows, token) => send(rows, token, signal),
      missing: async (rows, token) => {
        const comments = new Set([commentOf(token)]);
        const lookUp = async () => {
          await begun(connection, signal);
          await settled(connection, comments, signal);
          return await missing(connection, rows, signal);
        };
        const left = await persist(lookUp, { ...options, sends: "a look-up", ruleOf });
        const fields = { rows: rows.length, missing: left.length };
        log.warn(fields, "an insert was not acknowledged at once; what of it is missing is inserted again");
        metrics.readBacks.inc();
        metrics.readBackMissing.inc(left.length);
        return left;
      },
    };
  }

  const writeRow = createRowWriter(sentColumns);
  const writeScanned = createScannedRowWriter(sentColumns);
  return {
    /** See `ClickStore.encodeClick`. */
    encode(event: ClickEvent, enrichment: Enrichment): ClickRow {
      const { edge_run, edge_seq, ts, workspace_id } = event;
      return { edge_run, edge_seq, ts, workspace_id, line: writeRow(clickValues(event, enrichment)) };
    },
    /** See `ClickStore.encodeScanned`. */
    encodeScanned(click: ScannedClick, enrichment: Enrichment): ClickRow {
      const { edge_run, edge_seq, ts, workspace_id } = click;
      return { edge_run, edge_seq, ts, workspace_id, line: writeScanned(click.scan, enrichment) };
    },
    /** See `ClickStore.insertClicks`. */
    async insert(rows: readonly ClickRow[], options: InsertOptions): Promise<void> {
      if (rows.length > maxRows) throw new RangeError(`an insert takes ${maxRows} rows, not ${rows.length}`);
      if (rows.length > 0) await insertOnce(rows, target(options), createPatience(options, ruleOf));
    },
    /**
     * See `ClickStore.earlierInsertsSettled`. It waits for those that run now: other owners begin new ones all the
     * time. What we sent ourselves and gave up is an earlier owner's, too.
     */
    async earlierInsertsSettled(signal: AbortSignal): Promise<void> {
      await begun(connection, signal);
      const running = new Set(await selectInsertComments(connection, prefix, signal));
      await settled(connection, running.difference(underWay), signal);
    },
  };
}

const lineOf = ({ line }: ClickRow): Line => line;

/**
 * Resolves when the inserts that have reached the server are on its list. One that was frozen, or its machine, has them
 * all before it when it goes on, and this question with them: so its answer is waited for first. A server that takes
 * long to answer takes long to begin an insert.
 */
async function begun(connection: Connection, signal: AbortSignal): Promise<void> {
  const asked = performance.now();
  await selectInsertComments(connection, prefix, signal);
  const { least, most } = unlistedMs;
  await pause(Math.min(Math.max(performance.now() - asked, least), most), signal);
}

/** Resolves when none of these inserts is running. They end by themselves: `max_execution_time`. */
async function settled(
  connection: Connection,
  comments: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const running = await selectInsertComments(connection, prefix, signal);
    if (!running.some((comment) => comments.has(comment))) return;
    await pause(200, signal);
  }
}

async function missing(
  connection: Connection,
  rows: readonly ClickRow[],
  signal: AbortSignal,
): Promise<ClickRow[]> {
  const left: ClickRow[] = [];
  for (const { run, range, rows: inRange } of rangesOf(rows)) {
    const stored = await selectNumbers(connection, run, range, signal);
    for (const row of inRange) if (!stored.has(row.edge_seq)) left.push(row);
  }
  // Each half of a batch that has to be split should touch half of its months.
  return left.toSorted((a, b) => a.ts - b.ts);
}
