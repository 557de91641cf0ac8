import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./benchmark.ts";
import type { ClickTables, Engine } from "./click-tables.ts";
import { cpuSeconds } from "./machine.ts";

/** A click's JSON as the edge writes it, for ClickHouse to parse. */
const columns = `
  event_id UUID, edge String, edge_run UUID, edge_seq UInt64, ts Int64, workspace_id UInt32, link_id UInt64,
  domain String, slug String, destination String, status UInt16, method String, country String, region String,
  city String, asn UInt32, user_agent String, client_hints Map(String, String), referrer_domain String,
  language String, visitor String, bot UInt32, prefetch Bool, qr Bool, variant UInt8,
  utm Tuple(source String, medium String, campaign String, term String, content String),
  click_ids Map(String, String), gpc Bool`;

/** What the table has under the same name. */
const same = `
  event_id, edge, edge_run, edge_seq, workspace_id, link_id, domain, slug, destination, status, method, country, region,
  city, asn, user_agent, client_hints, referrer_domain, language, visitor, bot, prefetch, qr, variant, click_ids, gpc`;

const lookEveryMs = 100;
const stuckAfterMs = 60_000;

/**
 * ClickHouse's own Kafka engine and a materialized view fill the same table from the same topic, as a group that has
 * read nothing of it. It parses no user agent and looks for no repeats. One consumer, with its own defaults otherwise.
 */
export async function catchUpByKafkaEngine(
  backlog: { readonly broker: string; readonly topic: string; readonly events: number },
  { engine, name }: { engine: Engine; name: string },
  bench: Bench,
): Promise<{ eventsPerSecond: number; engineMicroseconds: number }> {
  const { broker, topic, events } = backlog;
  await using tables = await engine.openTables(name);
  await tables.query(`CREATE TABLE queue (${columns}) ENGINE = Kafka SETTINGS
    kafka_broker_list = '${broker}', kafka_topic_list = '${topic}', kafka_group_name = '${name}',
    kafka_format = 'JSONEachRow'`);
  const before = cpuSeconds(engine.pid) ?? Number.NaN;
  await tables.query(`CREATE MATERIALIZED VIEW queue_to_events TO click_events AS
    SELECT ${same}, fromUnixTimestamp64Milli(ts, 'UTC') AS ts, utm.source AS utm_source, utm.medium AS utm_medium,
      utm.campaign AS utm_campaign, utm.term AS utm_term, utm.content AS utm_content
    FROM queue`);
  const eventsPerSecond = await rateUntil(tables, events, bench);
  const engineMicroseconds = (((cpuSeconds(engine.pid) ?? Number.NaN) - before) * 1e6) / events;
  await tables.query("DROP VIEW queue_to_events SYNC");
  await tables.query("DROP TABLE queue SYNC");
  return { eventsPerSecond, engineMicroseconds };
}

/** As of an ingester: from the first look that sees rows to the first that sees all. */
async function rateUntil(tables: ClickTables, events: number, bench: Bench): Promise<number> {
  let first: { at: number; rows: number } | undefined;
  let last = { at: performance.now(), rows: 0 };
  while (last.rows < events) {
    await delay(lookEveryMs, undefined, { signal: bench.signal });
    const rows = Number((await tables.query("SELECT count() FROM click_events"))[0]);
    const at = performance.now();
    if (rows > last.rows) last = { at, rows };
    if (rows > 0) first ??= last;
    if (at - last.at > stuckAfterMs) throw new Error(`Kafka engine: stuck at ${rows} of ${events} rows`);
  }
  // Seen in one look, as few rows are, there is no rate.
  return ((last.rows - (first?.rows ?? 0)) * 1_000) / (last.at - (first?.at ?? last.at));
}
