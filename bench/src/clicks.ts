import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";
import { createLinks } from "./links.ts";
import { pick, pickSkewed, type Random, seeded } from "./random.ts";
import { createVisitors, type Visitor } from "./visitors.ts";

/** Clicks as edges make them, about 800 bytes each once encoded. */
export interface Clicks {
  event(): ClickEvent;
  /** The next ones, as an edge appends them. */
  records(count: number): NewRecord[];
}

/** What a click's time advances by: as if each edge had 1,000 clicks a second. */
const clicksPerMs = 1;

/**
 * Clicks of so many edges in turn, each in one run that is numbered without gaps. They end about now when `total` of
 * them are made.
 */
export function createClicks({ edges, total }: { edges: number; total: number }): Clicks {
  const random = seeded(1);
  const links = createLinks(random, 10_000);
  const visitor = createVisitors(random);
  const startedAt = Date.now() - Math.ceil(total / edges / clicksPerMs);
  const runs = Array.from({ length: edges }, (_, index) => ({
    edge: `edge-${index}`,
    edge_run: uuidv7(startedAt),
  }));
  let made = 0;

  function event(): ClickEvent {
    const seq = Math.floor(made / edges) + 1;
    const run = runs[made % edges];
    if (run === undefined) throw new Error("there is no edge");
    made += 1;
    const ts = startedAt + Math.floor(seq / clicksPerMs);
    const link = pickSkewed(random, links);
    const number = Number.parseInt(link.slug, 36) - 36 ** 6;
    return {
      v: 1,
      event_id: uuidv7(ts),
      ...run,
      edge_seq: seq,
      ts,
      workspace_id: (number % 50) + 1,
      link_id: number + 1,
      ...link,
      status: 302,
      method: "GET",
      ...pickSkewed(random, places),
      ...describe(visitor(), random),
      bot: 0,
      prefetch: false,
      variant: 0,
      gpc: false,
    };
  }

  return {
    event,
    records: (count) =>
      Array.from({ length: count }, () => {
        const click = event();
        return { key: click.edge_run, value: encodeClick(click) };
      }),
  };
}

function describe(visitor: Visitor, random: Random) {
  const query = new URLSearchParams(visitor.query);
  const utm = (name: string) => query.get(`utm_${name}`) ?? "";
  const gclid = query.get("gclid");
  const fbclid = query.get("fbclid");
  return {
    user_agent: visitor.userAgent,
    client_hints: visitor.hints,
    referrer_domain: URL.parse(visitor.referrer)?.hostname ?? "",
    language: visitor.acceptLanguage.split(",")[0] ?? "",
    visitor: pick(random, hashes) + pick(random, hashes),
    qr: query.get("qr") === "1",
    utm: {
      source: utm("source"),
      medium: utm("medium"),
      campaign: utm("campaign"),
      term: "",
      content: "",
    },
    click_ids: { ...(gclid === null ? {} : { gclid }), ...(fbclid === null ? {} : { fbclid }) },
  };
}

/** Halves of visitors' hashes: a million visitors out of two picks. */
const hashes = Array.from({ length: 1_000 }, (_, index) =>
  Array.from({ length: 4 }, (__, part) =>
    Math.floor(seeded(index * 4 + part)() * 0x1_0000)
      .toString(16)
      .padStart(4, "0"),
  ).join(""),
);

const places = [
  { country: "US", region: "CA", city: "San Francisco", asn: 7922 },
  { country: "US", region: "NY", city: "New York", asn: 701 },
  { country: "DE", region: "HE", city: "Frankfurt am Main", asn: 3320 },
  { country: "GB", region: "ENG", city: "London", asn: 2856 },
  { country: "FR", region: "IDF", city: "Paris", asn: 3215 },
  { country: "BR", region: "SP", city: "São Paulo", asn: 28573 },
  { country: "IN", region: "MH", city: "Mumbai", asn: 55836 },
  { country: "JP", region: "", city: "", asn: 17676 },
];
