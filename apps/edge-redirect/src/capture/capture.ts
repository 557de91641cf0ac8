import type { IncomingMessage } from "node:http";

import { isHuman } from "@sluice/click-event/bot.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { JournalWriter } from "@sluice/event-log/journal-writer.ts";
import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";

import type { ClientAddress } from "../client/client-address.ts";
import { onceAMinute } from "../once-a-minute.ts";
import { encodeClickParts } from "./encode-click.ts";
import { firstLanguage } from "./language.ts";
import type { CaptureMetrics } from "./metrics.ts";
import { isPrefetch } from "./prefetch.ts";
import { encodeQuery } from "./query.ts";
import type { Referrer } from "./referrer.ts";
import type { RefusalReason } from "./refused-numbers.ts";
import { createRun } from "./run.ts";
import { openRuns } from "./runs.ts";
import type { Visitor, Visitors } from "./visitors.ts";

/** What a click leads to, as far as its record says so. */
export interface ClickedLink {
  readonly workspaceId: number;
  /** `encodeLink` of it. */
  readonly json: string;
  /** The bits of `botReasons` that it gives all its clicks. */
  readonly bot: number;
}

/** Who asks for a link. */
export interface Identity {
  readonly visitor: Visitor;
  /** As `isHuman` says of the click: only then it uses up a limit. */
  readonly human: boolean;
}

export interface Capture {
  /**
   * Records one click. `done` is called once, with the event's id, when the click is in the journal or has been
   * refused and counted: the visitor is answered then, and not before. Never throws.
   */
  record(request: IncomingMessage, link: ClickedLink, query: string, done: (eventId: string) => void): void;
  /** Who asks, as `record` will say it: for links whose answer depends on that. */
  identify(request: IncomingMessage, link: ClickedLink): Identity;
}

export interface CaptureOptions {
  readonly edge: string;
  /** Opens the journal for a new run of this name. */
  readonly openJournal: (run: string) => Promise<JournalWriter>;
  readonly addressOf: ClientAddress;
  readonly visitors: Visitors;
  readonly readReferrer: (header: string | undefined) => Referrer;
  readonly metrics: CaptureMetrics;
  readonly health: Pick<Health, "degraded">;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const nobody: Visitor = {
  id: "",
  workspaceId: 0,
  country: "",
  region: "",
  userAgent: "",
  bot: 0,
  untracked: true,
  json: "",
};

/** Records nothing, so that there is no event with an id, and knows nobody. For benchmarks. */
export const noCapture: Capture = {
  record: (_request, _link, _query, done) => done(""),
  identify: () => ({ visitor: nobody, human: true }),
};

/** Rejects when the journal cannot be opened. Closing journals what is in hand. */
export async function openCapture(options: CaptureOptions): Promise<Capture & AsyncDisposable> {
  const { edge, openJournal, metrics, health, log, now } = options;
  const runs = await openRuns(async () => createRun(edge, await openJournal(uuidv7(now()))), now, log);
  const say = onceAMinute((error) => log.error({ error }, "a click could not be encoded"));
  let refusing: RefusalReason | undefined;

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
      const eventId = uuidv7(ts);
      let value: Uint8Array;
      try {
        value = encode(options, request, link, query, { eventId, run: run.json, seq, ts });
      } catch (error) {
        // No request may end the process or go without an answer; its number is used up.
        say(error);
        run.refuse(seq, "error");
        settle("error");
        return done(eventId);
      }
      run.append(seq, value, (refused) => {
        settle(refused);
        done(eventId);
      });
    },
    identify: createIdentify(options, () => runs.time()),
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

function encode(
  { addressOf, visitors, readReferrer }: CaptureOptions,
  request: IncomingMessage,
  link: ClickedLink,
  query: string,
  { eventId, run, seq, ts }: PlaceInRun,
): Uint8Array {
  const { headers } = request;
  const visitor = visitors.describe(addressOf(request), headers, link.workspaceId, ts);
  const referrer = readReferrer(headers.referer);
  const json = encodeClickParts({
    eventId,
    run,
    seq,
    ts,
    link: link.json,
    visitor: visitor.json,
    language: firstLanguage(headers["accept-language"] ?? ""),
    bot: visitor.bot | referrer.bot | link.bot,
    query: encodeQuery(query, visitor.untracked),
    method: methodOf(request),
    referrerDomain: visitor.untracked ? "" : referrer.domain,
    prefetch: isPrefetch(headers),
  });
  return Buffer.from(json);
}

function createIdentify(
  { addressOf, visitors, readReferrer }: CaptureOptions,
  time: () => number,
): Capture["identify"] {
  return (request, link) => {
    const { headers } = request;
    const visitor = visitors.describe(addressOf(request), headers, link.workspaceId, time());
    const bot = visitor.bot | readReferrer(headers.referer).bot | link.bot;
    return { visitor, human: isHuman(bot, isPrefetch(headers), methodOf(request)) };
  };
}

function methodOf({ method }: IncomingMessage): "GET" | "HEAD" {
  return method === "HEAD" ? "HEAD" : "GET";
}

interface PlaceInRun {
  readonly eventId: string;
  readonly run: string;
  readonly seq: number;
  readonly ts: number;
}
