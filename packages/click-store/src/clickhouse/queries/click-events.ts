import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { ClickStoreError } from "../../click-store.ts";
import type { Value } from "../../body.ts";
import type { Connection } from "../connection.ts";

/** In the order of `clickValues`. */
const columns = [
  ..."event_id edge edge_run edge_seq ts workspace_id link_id domain slug destination status method".split(
    " ",
  ),
  ..."country region city asn user_agent client_hints referrer_domain language visitor".split(" "),
  ..."bot prefetch qr variant utm_source utm_medium utm_campaign utm_term utm_content click_ids gpc".split(
    " ",
  ),
  ..."browser browser_version os os_version device referrer_channel is_bot".split(" "),
];

export const insertClicksQuery = `INSERT INTO click_events (${columns.join(", ")}) FORMAT JSONCompactEachRow`;

export function clickValues(event: ClickEvent, enrichment: Enrichment): readonly Value[] {
  return [
    event.event_id,
    event.edge,
    event.edge_run,
    event.edge_seq,
    event.ts,
    event.workspace_id,
    event.link_id,
    event.domain,
    event.slug,
    event.destination,
    event.status,
    event.method,
    event.country,
    event.region,
    event.city,
    event.asn,
    event.user_agent,
    event.client_hints,
    event.referrer_domain,
    event.language,
    event.visitor,
    event.bot,
    event.prefetch,
    event.qr,
    event.variant,
    event.utm.source,
    event.utm.medium,
    event.utm.campaign,
    event.utm.term,
    event.utm.content,
    event.click_ids,
    event.gpc,
    enrichment.browser,
    enrichment.browser_version,
    enrichment.os,
    enrichment.os_version,
    enrichment.device,
    enrichment.referrer_channel,
    enrichment.is_bot,
  ];
}

/** The highest number stored of a run at or after `sinceTs`; 0 when none is. Older parts are not read. */
export async function selectHighest(
  connection: Connection,
  run: string,
  sinceTs: number,
  signal: AbortSignal,
): Promise<number> {
  const lines = await connection.select(
    `SELECT max(edge_seq) FROM click_events
     WHERE edge_run = {run:UUID} AND ts >= fromUnixTimestamp64Milli({sinceTs:Int64}, 'UTC')`,
    { run, sinceTs },
    signal,
  );
  return toNumber(lines[0] ?? "");
}

export interface NumberRange {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromTs: number;
  readonly toTs: number;
}

/** Which numbers of a run are stored within these ranges, both ends included. */
export async function selectNumbers(
  connection: Connection,
  run: string,
  { fromSeq, toSeq, fromTs, toTs }: NumberRange,
  signal: AbortSignal,
): Promise<Set<number>> {
  const lines = await connection.select(
    `SELECT DISTINCT edge_seq FROM click_events
     WHERE edge_run = {run:UUID}
       AND edge_seq BETWEEN {fromSeq:UInt64} AND {toSeq:UInt64}
       AND ts BETWEEN fromUnixTimestamp64Milli({fromTs:Int64}, 'UTC') AND fromUnixTimestamp64Milli({toTs:Int64}, 'UTC')`,
    { run, fromSeq, toSeq, fromTs, toTs },
    signal,
  );
  return new Set(lines.map(toNumber));
}

/** A result that holds anything else was cut or is an error's text: taking it for fewer rows would insert them twice. */
function toNumber(line: string): number {
  if (!/^\d+$/.test(line))
    throw new ClickStoreError("retry", 0, "a number was asked for, and something else came");
  return Number(line);
}
