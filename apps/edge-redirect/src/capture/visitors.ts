import type { IncomingHttpHeaders } from "node:http";

import { LRUCache } from "lru-cache";

import { createAgents } from "./agents.ts";
import { type Locate, unmap } from "./geo.ts";
import { createVisitorHash, type VisitorHash } from "./visitor-hash.ts";
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

/** What was last said of an address. */
interface Known {
  readonly userAgent: string;
  readonly workspaceId: number;
  readonly day: number;
  readonly json: string;
}

/** Remembers the last `maxVisitors` addresses: whoever clicks once often clicks again. */
export function createVisitors(options: {
  locate: Locate;
  salt: VisitorSalt;
  maxVisitors: number;
}): DescribeVisitor {
  const { locate, salt, maxVisitors } = options;
  const visitors = new LRUCache<string, Known>({ max: maxVisitors });
  const describeAgent = createAgents();
  let hash: { of: VisitorHash; day: number } | undefined;

  function identify(address: string, userAgent: string, workspaceId: number, day: number): Known {
    if (hash?.day !== day) hash = { of: createVisitorHash(salt(day)), day };
    const plain = unmap(address);
    const visitor = plain === "" ? "" : hash.of(workspaceId, plain, userAgent);
    return { userAgent, workspaceId, day, json: `${locate(plain)},"visitor":"${visitor}"` };
  }

  return (address, headers, workspaceId, ts) => {
    const agent = describeAgent(headers);
    const day = dayOf(ts);
    let visitor = visitors.get(address);
    if (
      visitor === undefined ||
      visitor.userAgent !== agent.userAgent ||
      visitor.workspaceId !== workspaceId ||
      visitor.day !== day
    ) {
      visitor = identify(address, agent.userAgent, workspaceId, day);
      visitors.set(address, visitor);
    }
    return `${visitor.json},${agent.json},"bot":0`;
  };
}
