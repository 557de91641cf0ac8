import type { IncomingHttpHeaders } from "node:http";

import { limits } from "@sluice/click-event/click-event.ts";
import { LRUCache } from "lru-cache";

import { clip } from "./clip.ts";
import { type Locate, type Place, unmap } from "./geo.ts";
import { visitorHash } from "./visitor-hash.ts";
import { dayOf, type VisitorSalt } from "./visitor-salt.ts";

/**
 * The part of a click's JSON that the visitor decides: where they are, what they use, and the keyed hash by which
 * one visitor is told from another. This is the only place that an address comes to; it stays in memory.
 */
export type DescribeVisitor = (
  address: string,
  headers: IncomingHttpHeaders,
  workspaceId: number,
  /** The click's time, in ms since 1970. */
  ts: number,
) => string;

/** What a browser says of itself with every request, as it says it. */
interface Traits {
  readonly userAgent: string;
  readonly languages: string;
  readonly brands: string;
  readonly mobile: string;
  readonly platform: string;
  readonly platformVersion: string;
  readonly model: string;
  readonly gpc: boolean;
}

interface Card {
  readonly traits: Traits;
  readonly workspaceId: number;
  readonly day: number;
  readonly json: string;
}

/**
 * Remembers what it said of the last `maxVisitors` addresses, because hashing, looking up and encoding cost
 * more than all the rest of a click, and whoever clicks once often clicks again. An entry takes about 1 kB.
 */
export function createVisitors(options: {
  locate: Locate;
  salt: VisitorSalt;
  maxVisitors: number;
}): DescribeVisitor {
  const { locate, salt } = options;
  const cards = new LRUCache<string, Card>({ max: options.maxVisitors });

  return (address, headers, workspaceId, ts) => {
    const day = dayOf(ts);
    const traits = traitsOf(headers);
    const known = cards.get(address);
    if (known !== undefined && known.day === day && known.workspaceId === workspaceId) {
      if (areSame(known.traits, traits)) return known.json;
    }
    const plain = unmap(address);
    const visitor = plain === "" ? "" : visitorHash(salt(day), workspaceId, plain, traits.userAgent);
    const json = encode(traits, locate(plain), visitor);
    cards.set(address, { traits, workspaceId, day, json });
    return json;
  };
}

function traitsOf(headers: IncomingHttpHeaders): Traits {
  return {
    userAgent: headers["user-agent"] ?? "",
    languages: headers["accept-language"] ?? "",
    brands: single(headers["sec-ch-ua"]),
    mobile: single(headers["sec-ch-ua-mobile"]),
    platform: single(headers["sec-ch-ua-platform"]),
    platformVersion: single(headers["sec-ch-ua-platform-version"]),
    model: single(headers["sec-ch-ua-model"]),
    gpc: headers["sec-gpc"] === "1" || headers["dnt"] === "1",
  };
}

function areSame(a: Traits, b: Traits): boolean {
  return (
    a.userAgent === b.userAgent &&
    a.languages === b.languages &&
    a.brands === b.brands &&
    a.mobile === b.mobile &&
    a.platform === b.platform &&
    a.platformVersion === b.platformVersion &&
    a.model === b.model &&
    a.gpc === b.gpc
  );
}

function encode(traits: Traits, place: Place, visitor: string): string {
  const hints = {
    brands: traits.brands,
    mobile: traits.mobile,
    platform: unquote(traits.platform),
    platform_version: unquote(traits.platformVersion),
    model: unquote(traits.model),
  };
  const given = Object.entries(hints).filter(([, value]) => value !== "");
  const fields = {
    ...place,
    user_agent: clip(traits.userAgent, limits.userAgent),
    client_hints: Object.fromEntries(given.map(([name, value]) => [name, clip(value, limits.clientHint)])),
    language: firstLanguage(traits.languages),
    visitor,
    bot: 0,
    gpc: traits.gpc,
  };
  return JSON.stringify(fields).slice(1, -1);
}

/** `de-CH` of `de-CH,de;q=0.9`. */
function firstLanguage(languages: string): string {
  const [first = ""] = /^[A-Za-z0-9-]+/.exec(languages) ?? [];
  return first.slice(0, limits.language);
}

/** A client hint is a structured field: its texts come in quotes. */
function unquote(value: string): string {
  return value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/** Node joins what is sent twice, except for a few headers that are none of ours. */
function single(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : "";
}
