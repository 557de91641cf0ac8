import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { createLineWriter, inChunks } from "../body.ts";
import { clickColumns, clickValues } from "../click-columns.ts";
import { ClickStoreError, type ClickRow, type InsertOptions } from "../click-store.ts";
import { blameRow, createPatience, failureOf } from "../patience.ts";
import type { Connection } from "./connection.ts";
import { toCopyText } from "./copy-text.ts";
import { noPartition, ruleOf } from "./errors.ts";
import { createPartitions } from "./partitions.ts";
import { insertClicksStatements } from "./queries/click-events.ts";

const maxRows = 1_000_000;
/** A month is made a week before it begins. */
const aheadMs = 7 * 86_400_000;
const tsColumn = clickColumns.indexOf("ts");

/**
 * The clicks' half of the store. A batch is one transaction and a row that is there is left alone, so that rows may be
 * sent again whatever became of them the last time.
 */
export function createClickTable(connection: Connection) {
  const months = createPartitions(connection, { parent: "click_events", unit: "month" }, aheadMs);
  const writeLine = createLineWriter(toCopyText);
  const timestampOf = createTimestamps();

  async function send(rows: readonly ClickRow[], signal: AbortSignal): Promise<void> {
    await months.ensure(rows, signal);
    try {
      const lines = rows.values().map(({ line }) => line);
      await connection.copy(insertClicksStatements, inChunks(lines), signal);
    } catch (error) {
      if (error instanceof ClickStoreError && error.message === noPartition) months.forget();
      throw error;
    }
  }

  return {
    /** See `ClickStore.encodeClick`. */
    encode(event: ClickEvent, enrichment: Enrichment): ClickRow {
      const { edge_run, edge_seq, ts, workspace_id } = event;
      const values = clickValues(event, enrichment).with(tsColumn, timestampOf(ts));
      return { edge_run, edge_seq, ts, workspace_id, line: writeLine(values) };
    },
    /** See `ClickStore.insertClicks`. */
    async insert(rows: readonly ClickRow[], options: InsertOptions): Promise<void> {
      if (rows.length > maxRows) throw new RangeError(`an insert takes ${maxRows} rows, not ${rows.length}`);
      const patience = createPatience(options, ruleOf);
      const pieces = rows.length > 0 ? [rows] : [];
      for (let piece = pieces.pop(); piece !== undefined;) {
        const failure = await failureOf(send(piece, options.signal));
        if (failure === undefined) {
          patience.restore();
          piece = pieces.pop();
          continue;
        }
        if (patience.exhausted(failure))
          throw blameRow(failure, piece.length + pieces.flat().length < rows.length);
        await patience.wait(failure);
        if (ruleOf(failure).smaller && piece.length > 1) {
          const half = Math.ceil(piece.length / 2);
          pieces.push(piece.slice(half));
          piece = piece.slice(0, half);
        }
      }
    },
  };
}

/** Clicks that come together share their second, and making a text of it would be a tenth of what a row costs. */
function createTimestamps(): (ms: number) => string {
  let second = -1;
  let text = "";
  return (ms) => {
    // What is no time is left to the table to refuse.
    if (!(ms >= 0 && ms <= maxMs)) return String(ms);
    const ofSecond = Math.floor(ms / 1_000);
    if (ofSecond !== second) {
      second = ofSecond;
      text = new Date(second * 1_000).toISOString().slice(0, "2000-01-01T00:00:00.".length);
    }
    return `${text}${String(ms - second * 1_000).padStart(3, "0")}Z`;
  };
}

/** The last one whose year has four digits. */
const maxMs = Date.UTC(9999, 11, 31);
