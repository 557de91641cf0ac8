// A process whose disk is small: see full-disk.int.test.ts. Says what it saw, one step a line.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { JournalReader } from "./reader.ts";
import { append, numberOf, writerDefaults } from "./trial.ts";
import { type JournalWriter, openJournalWriter } from "./writer.ts";

const [scenario = "", dir = ""] = process.argv.slice(2);
const metrics = createMetrics();
let damage = 0;
const deps = { log: { ...silentLog, error: () => void (damage += 1) }, metrics };

function say(step: string, value: unknown): void {
  process.stdout.write(`${step}\t${JSON.stringify(value)}\n`);
}

async function openWriter(segmentBytes: number): Promise<JournalWriter> {
  return await openJournalWriter(dir, { ...writerDefaults, ...deps, run: "run", segmentBytes });
}

async function openReader(): Promise<JournalReader> {
  const signal = new AbortController().signal;
  return await JournalReader.open(join(dir, "clicks"), {
    topic: "clicks",
    group: "store",
    until: "now",
    deadAfterMs: 3_600_000,
    signal,
    ...deps,
  });
}

async function readAll(reader: JournalReader): Promise<number[]> {
  const numbers: number[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 1000, maxBytes: 1_000_000, maxWaitMs: 0 });
    if (batch === undefined) return numbers;
    numbers.push(...batch.records.map(numberOf));
    await batch.commit();
  }
}

/** The outcome of the first append that is not refused, or of the last of five seconds of them. */
async function appendSoon(writer: JournalWriter, number: number): Promise<string> {
  for (let tries = 0; tries < 50; tries += 1) {
    const refusal = await append(writer, number, 600);
    if (refusal === undefined) return "ok";
    await delay(100);
  }
  return "full";
}

async function full(): Promise<void> {
  const writer = await openWriter(500_000);
  let number = 0;
  let refusal;
  do {
    number += 1;
    refusal = await append(writer, number, 600);
  } while (refusal === undefined && number < 100_000);
  say("refusal", refusal ?? "none");
  let seen: number[];
  {
    await using reader = await openReader();
    seen = await readAll(reader);
    say("committed on the full disk", seen.length === number - 1);
  }
  say("accepted after the commit", await appendSoon(writer, number));
  await using reader = await openReader();
  seen.push(...(await readAll(reader)));
  const inOrder = seen.length === number && seen.every((value, index) => value === index + 1);
  say("all that was acknowledged, once and in order", inOrder);
  await writer[Symbol.asyncDispose]();
}

async function filledByOthers(): Promise<void> {
  const filler = join(dir, "filler");
  await writeFile(filler, Buffer.alloc(16_000_000)).catch(() => undefined);
  const writer = await openWriter(500_000);
  say("while full", [await append(writer, 1, 600), await append(writer, 2, 600)]);
  await rm(filler);
  say("with room", await appendSoon(writer, 3));
  await using reader = await openReader();
  say("read", await readAll(reader));
  await writer[Symbol.asyncDispose]();
}

async function fileLimit(): Promise<void> {
  const writer = await openWriter(10_000_000);
  const outcomes = await Promise.all(
    Array.from({ length: 5000 }, (_, index) => append(writer, index + 1, 100)),
  );
  say("refused", outcomes.filter((code) => code !== undefined).length);
  await using reader = await openReader();
  const seen = await readAll(reader);
  say("read", seen.length);
  say(
    "in order",
    seen.every((value, index) => value === index + 1),
  );
  await writer[Symbol.asyncDispose]();
}

if (scenario === "full") await full();
else if (scenario === "filled-by-others") await filledByOthers();
else await fileLimit();
// Part of a record that was not cut off would be skipped by readers, and reported.
say("damage", damage);
