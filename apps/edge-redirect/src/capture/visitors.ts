import type { IncomingHttpHeaders } from "node:http";

import { type Agent, createAgents } from "./agents.ts";
import { flat } from "./flat.ts";
import { type Locate, unmap } from "./geo.ts";
import { firstLanguage } from "./language.ts";
import { createVisitorHash, type VisitorHash } from "./visitor-hash.ts";
import { dayOf, type VisitorSalt } from "./visitor-salt.ts";
import { createRecent } from "../recent.ts";

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

interface Visitor {
  readonly workspaceId: number;
  readonly json: string;
}

/** Remembers the last `maxVisitors` of a day: whoever clicks once often clicks again. */
export function createVisitors(options: {
  locate: Locate;
  salt: VisitorSalt;
  maxVisitors: number;
}): DescribeVisitor {
  const { locate, salt, maxVisitors } = options;
  const visitors = createRecent<string, Visitor>(maxVisitors);
  const describeAgent = createAgents();
  let today: { readonly day: number; readonly hash: VisitorHash } | undefined;

  function describe(address: string, agent: Agent, workspaceId: number, hash: VisitorHash): string {
    const plain = unmap(address);
    const visitor = plain === "" ? "" : hash(workspaceId, plain, agent.userAgent);
    return flat(`${locate(plain)},${agent.json},"visitor":"${visitor}","bot":0`);
  }

  return (address, headers, workspaceId, ts) => {
    const day = dayOf(ts);
    if (today?.day !== day) {
      today = { day, hash: createVisitorHash(salt(day)) };
      visitors.clear();
    }
    const agent = describeAgent(headers);
    const key = `${agent.id} ${address}`;
    let visitor = visitors.get(key);
    if (visitor?.workspaceId !== workspaceId) {
      visitor = { workspaceId, json: describe(address, agent, workspaceId, today.hash) };
      visitors.set(key, visitor);
    }
    return `${visitor.json},"language":"${firstLanguage(headers["accept-language"] ?? "")}"`;
  };
}
