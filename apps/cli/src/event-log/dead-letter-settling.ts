import { decodeRecord } from "@sluice/click-event/decode.ts";
import {
  type DeadLetters,
  type LetterFilter,
  type LetterKey,
  openDeadLetters,
  type StoredDeadLetter,
} from "@sluice/click-store/dead-letters.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { createMetrics } from "@sluice/service/metrics.ts";

import type { Context } from "../context.ts";

export interface Settling {
  readonly dryRun?: boolean;
}

/** So many of the largest that a log takes are a hundred megabytes. */
const pageSize = 100;

/**
 * Appends letters to the topic that they came from, where every reader of it gets them, and marks them. Killed in
 * between, it appends some of them again the next time, which is harmless. What this version cannot decode either is
 * left as it is: it would only come back as another letter.
 */
export async function replayDeadLetters(
  context: Context,
  filter: LetterFilter,
  { dryRun = false }: Settling,
): Promise<void> {
  await using letters = await openDeadLetters(await context.addresses.clickStoreUrl());
  await using events = dryRun ? undefined : await openLog(context);
  let replayed = 0;
  let left = 0;
  for await (const page of pages(letters, filter, context)) {
    const good = page.filter(({ value }) => decodeRecord(value).kind !== "undecodable");
    if (events !== undefined) await append(events, good);
    if (!dryRun) await letters.mark(good, "replayed");
    replayed += good.length;
    left += page.length - good.length;
  }
  context.print(`${replayed} ${dryRun ? "would be replayed" : "replayed"}`);
  if (left === 0) return;
  context.print(`${left} still cannot be decoded, and stay open`);
  process.exitCode = 1;
}

export async function discardDeadLetters(
  context: Context,
  filter: LetterFilter,
  { dryRun = false }: Settling,
): Promise<void> {
  await using letters = await openDeadLetters(await context.addresses.clickStoreUrl());
  let discarded = 0;
  for await (const page of pages(letters, filter, context)) {
    if (!dryRun) await letters.mark(page, "discarded");
    discarded += page.length;
  }
  context.print(`${discarded} ${dryRun ? "would be discarded" : "discarded"}`);
}

/** The letters that are there now, a page at a time. Those that come meanwhile, of our own making perhaps, are not. */
async function* pages(
  letters: DeadLetters,
  filter: LetterFilter,
  { progress }: Context,
): AsyncGenerator<readonly StoredDeadLetter[]> {
  const { letters: total, asOf } = await letters.count(filter);
  const present = { ...filter, to: Math.min(filter.to ?? Infinity, asOf) };
  using shown = progress(total);
  for (let after: LetterKey | undefined; ;) {
    const page = await letters.page(present, { limit: pageSize, ...(after && { after }) });
    if (page.letters.length > 0) yield page.letters;
    shown.advance(page.letters.length);
    after = page.next;
    if (after === undefined) return;
  }
}

async function append(events: EventLog, letters: readonly StoredDeadLetter[]): Promise<void> {
  for (const [topic, ofTopic] of Map.groupBy(letters, (letter) => letter.topic))
    await events.append(topic, ofTopic);
}

async function openLog({ addresses, log }: Context): Promise<EventLog> {
  const given = await addresses.eventLogUrl();
  const url = URL.parse(given);
  // A mark is on the disk at once, and must not outlive what it says was appended.
  if (url?.protocol === "journal:") url.searchParams.set("fsync", "always");
  return await openEventLog(url?.href ?? given, { log, metrics: createMetrics() });
}
