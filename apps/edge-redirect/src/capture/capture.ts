import type { IncomingMessage } from "node:http";

import { isHuman } from "@sluice/click-event/bot.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { JournalWriter } from "@sluice/event-log/journal-writer.ts";
import type { AuditMode } from "@sluice/link-store/audit-store.ts";
import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";

import type { Auditor } from "../audit/auditor.ts";
import type { ClientAddress } from "../client/client-address.ts";
import { onceAMinute } from "../once-a-minute.ts";
import { unknownEquipment } from "../rules/equipment.ts";
import { createAudited, type JournalClick } from "./audited.ts";
import { type ClickParts, encodeClickParts, encodePlace } from "./encode-click.ts";
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
  readonly linkId: number;
  readonly workspaceId: number;
  /** `encodeLink` of it. */
  readonly json: string;
  /** The bits of `botReasons` that it gives all its clicks. */
  readonly bot: number;
  /** Each of its clicks has an audit row, too. */
  readonly audit: AuditMode | undefined;
}

export interface Capture {
  /**
   * Records one click. `done` is called once, with the event's id, when the click is in the journal or has been
   * refused and counted, and has its audit row if it is to have one: the visitor is answered then, and not before.
   * Without an id when there may be no click without a row, and there is no row. Never throws.
   */
  record(
    request: IncomingMessage,
    link: ClickedLink,
    query: string,
    done: (eventId: string | undefined) => void,
  ): void;
  /** Who asks, as `record` will say it: for links whose answer depends on that. */
  identify(request: IncomingMessage, link: ClickedLink): Visitor;
  /** As the click's record will say it: only a person uses up a limit. */
  isHuman(request: IncomingMessage, link: ClickedLink): boolean;
}

export interface CaptureOptions {
  readonly edge: string;
  /** Opens the journal for a new run of this name. */
  readonly openJournal: (run: string) => Promise<JournalWriter>;
  readonly addressOf: ClientAddress;
  readonly visitors: Visitors;
  readonly readReferrer: (header: string | undefined) => Referrer;
  readonly auditor: Auditor;
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
  equipment: unknownEquipment,
  bot: 0,
  untracked: true,
  json: "",
};

/** Records nothing, so that there is no event with an id, and knows nobody. For benchmarks. */
export const noCapture: Capture = {
  record: (_request, _link, _query, done) => done(""),
  identify: () => nobody,
  isHuman: () => true,
};

/** Rejects when the journal cannot be opened. Closing journals what is in hand. */
export async function openCapture(options: CaptureOptions): Promise<Capture & AsyncDisposable> {
  const { edge, openJournal, auditor, metrics, health, log, now } = options;
  const runs = await openRuns(async () => createRun(edge, await openJournal(uuidv7(now()))), now, log);
  let refusing: RefusalReason | undefined;

  function settle(refused: RefusalReason | undefined): void {
    if (refused === undefined) metrics.accepted.inc();
    else metrics.refused[refused].inc();
    if (refused === refusing) return;
    refusing = refused;
    health.degraded("journal", refused && `clicks are refused: ${refused}`);
  }

  const journal: JournalClick = (parts, { eventId, ts }, tell) => {
    const run = runs.current();
    const seq = run.take(ts);
    if (parts === undefined) {
      run.refuse(seq, "error");
      settle("error");
      return tell(undefined);
    }
    const event = encodeClickParts(parts, { eventId, ts, place: encodePlace(run.json, seq) });
    run.append(seq, Buffer.from(event), (refused) => {
      settle(refused);
      tell(event);
    });
  };
  const recordAudited = createAudited({ auditor, journal, time: () => runs.time() });
  const who = createWho(options);
  const read = createReader(options, who);

  return {
    record(request, link, query, answer) {
      const ts = runs.time();
      const eventId = uuidv7(ts);
      const parts = read(request, link, query, ts);
      if (link.audit === undefined) return journal(parts, { eventId, ts }, () => answer(eventId));
      const { linkId, workspaceId } = link;
      recordAudited({ eventId, ts, parts, linkId, workspaceId }, link.audit)
        .then((isClick) => answer(isClick ? eventId : undefined))
        // Neither rejects, so it is a bug.
        .catch((error: unknown) =>
          process.nextTick(() => {
            throw error;
          }),
        );
    },
    identify: (request, link) => who.before(request, link.workspaceId, runs.time()),
    isHuman(request, link) {
      const visitor = who.before(request, link.workspaceId, runs.time());
      const bot = visitor.bot | options.readReferrer(request.headers.referer).bot | link.bot;
      return isHuman(bot, isPrefetch(request.headers), methodOf(request));
    },
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}

type ReadClick = (
  request: IncomingMessage,
  link: ClickedLink,
  query: string,
  ts: number,
) => ClickParts | undefined;

interface Who {
  /** For a link that asks before its click is recorded. */
  before(request: IncomingMessage, workspaceId: number, ts: number): Visitor;
  ofClick(request: IncomingMessage, workspaceId: number, ts: number): Visitor;
}

/** Remembers whom it was asked for before the click: in nearly all cases the click is the next one. */
function createWho({ addressOf, visitors }: CaptureOptions): Who {
  let asked: IncomingMessage | undefined;
  let known: Visitor | undefined;
  const ask = (request: IncomingMessage, workspaceId: number, ts: number): Visitor =>
    visitors.describe(addressOf(request), request.headers, workspaceId, ts);
  return {
    before(request, workspaceId, ts) {
      if (asked === request && known !== undefined) return known;
      asked = request;
      return (known = ask(request, workspaceId, ts));
    },
    ofClick(request, workspaceId, ts) {
      if (asked !== request || known === undefined) return ask(request, workspaceId, ts);
      const visitor = known;
      asked = known = undefined;
      return visitor;
    },
  };
}

/** Reads off a request what a click's record says. Nothing when it cannot: no request may end the process. */
function createReader(options: CaptureOptions, who: Who): ReadClick {
  const say = onceAMinute((error) => options.log.error({ error }, "a click could not be encoded"));
  return (request, link, query, ts) => {
    try {
      const visitor = who.ofClick(request, link.workspaceId, ts);
      return describe(options, visitor, request, link, query);
    } catch (error) {
      say(error);
      return undefined;
    }
  };
}

function describe(
  { readReferrer }: CaptureOptions,
  visitor: Visitor,
  request: IncomingMessage,
  link: ClickedLink,
  query: string,
): ClickParts {
  const { headers } = request;
  const referrer = readReferrer(headers.referer);
  return {
    link: link.json,
    visitor: visitor.json,
    language: firstLanguage(headers["accept-language"] ?? ""),
    bot: visitor.bot | referrer.bot | link.bot,
    query: encodeQuery(query, visitor.untracked),
    method: methodOf(request),
    referrerDomain: visitor.untracked ? "" : referrer.domain,
    prefetch: isPrefetch(headers),
  };
}

function methodOf({ method }: IncomingMessage): "GET" | "HEAD" {
  return method === "HEAD" ? "HEAD" : "GET";
}
