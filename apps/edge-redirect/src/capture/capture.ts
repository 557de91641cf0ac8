import type { IncomingMessage } from "node:http";

import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { JournalWriter } from "@sluice/event-log/journal-writer.ts";
import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";

import { onceAMinute } from "../once-a-minute.ts";
import { encodeClickParts } from "./encode-click.ts";
import type { CaptureMetrics } from "./metrics.ts";
import { isPrefetch } from "./prefetch.ts";
import { encodeQuery } from "./query.ts";
import { referrerDomain } from "./referrer.ts";
import type { RefusalReason } from "./refused-numbers.ts";
import { createRun } from "./run.ts";
import { openRuns } from "./runs.ts";
import type { DescribeVisitor } from "./visitors.ts";

/** What a click leads to, as far as its record says so. */
export interface ClickedLink {
  readonly workspaceId: number;
  /** `encodeLink` of it. */
  readonly json: string;
}

export interface Capture {
  /**
   * Records one click. `done` is called once, when the click is in the journal or has been refused and counted:
   * the visitor is answered then, and not before. Never throws.
   */
  record(request: IncomingMessage, link: ClickedLink, query: string, done: () => void): void;
}

export interface CaptureOptions {
  readonly edge: string;
  /** Opens the journal for a new run of this name. */
  readonly openJournal: (run: string) => Promise<JournalWriter>;
  readonly describeVisitor: DescribeVisitor;
  readonly metrics: CaptureMetrics;
  readonly health: Pick<Health, "degraded">;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Records nothing. For benchmarks. */
export const noCapture: Capture = {
  record: (_request, _link, _query, done) => done(),
};

/** Rejects when the journal cannot be opened. Closing journals what is in hand. */
export async function openCapture(options: CaptureOptions): Promise<Capture & AsyncDisposable> {
  const { edge, openJournal, describeVisitor, metrics, health, log, now } = options;
  const runs = await openRuns(async () => createRun(edge, await openJournal(uuidv7(now()))), now, log);
  const say = onceAMinute((error) => log.error({ error }, "a click could not be encoded"));
  let refusing: RefusalReason | undefined;

  function encode(
    { headers, method, socket }: IncomingMessage,
    link: ClickedLink,
    query: string,
    { run, seq, ts }: PlaceInRun,
  ): Uint8Array {
    const json = encodeClickParts({
      eventId: uuidv7(ts),
      run,
      seq,
      ts,
      link: link.json,
      visitor: describeVisitor(socket.remoteAddress ?? "", headers, link.workspaceId, ts),
      query: encodeQuery(query),
      method: method === "HEAD" ? "HEAD" : "GET",
      referrerDomain: referrerDomain(headers.referer ?? ""),
      prefetch: isPrefetch(headers),
    });
    return Buffer.from(json);
  }

  function settle(refused: RefusalReason | undefined): void {
    if (refused === undefined) metrics.accepted.inc();
    else metrics.refused[refused].inc();
    if (refused === refusing) return;
    refusing = refused;
    health.degraded("journal", refused && `clicks are refused: ${refused}`);
  }

  return {
    record(request, link, query, done) {
      const ts = runs.time();
      const run = runs.current();
      const seq = run.take(ts);
      let value: Uint8Array;
      try {
        value = encode(request, link, query, { run: run.json, seq, ts });
      } catch (error) {
        // No request may end the process or go without an answer; its number is used up.
        say(error);
        run.refuse(seq, "error");
        settle("error");
        return done();
      }
      run.append(seq, value, (refused) => {
        settle(refused);
        done();
      });
    },
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

interface PlaceInRun {
  readonly run: string;
  readonly seq: number;
  readonly ts: number;
}
