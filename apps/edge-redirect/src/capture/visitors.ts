import type { IncomingHttpHeaders } from "node:http";

import { botReasons } from "@sluice/click-event/bot.ts";
import type { Metrics } from "@sluice/service/metrics.ts";

import { isPublic, unmap } from "../client/address.ts";
import { createRecent } from "../recent.ts";
import type { Equipment } from "../rules/equipment.ts";
import { type Agent, createAgents } from "./agents.ts";
import { flat } from "./flat.ts";
import type { Locate } from "./geo.ts";
import { createVisitorHash, type VisitorHash } from "./visitor-hash.ts";
import { dayOf, type VisitorSalt } from "./visitor-salt.ts";

/** What is worked out once of a visitor, for all clicks of a day. Nothing in it tells their address. */
export interface Visitor {
  /** The keyed hash by which one visitor is told from another, within a workspace; empty for nobody in particular. */
  readonly id: string;
  readonly workspaceId: number;
  readonly country: string;
  readonly region: string;
  readonly userAgent: string;
  readonly equipment: Equipment;
  /** The bits of `botReasons` that agent and network give. */
  readonly bot: number;
  /** Asks not to be tracked, and is heard: without `id`, city, referrer and click ids. */
  readonly untracked: boolean;
  /** The part of a click's JSON that they decide. */
  readonly json: string;
}

export interface Visitors {
  /** This is the only place that an address comes to; it stays in memory. `ts` is the click's time, in ms since 1970. */
  readonly describe: (
    address: string,
    headers: IncomingHttpHeaders,
    workspaceId: number,
    ts: number,
  ) => Visitor;
  /** Visitors are worked out anew: something that decides about them is another one now. */
  readonly forget: () => void;
}

export interface VisitorsOptions {
  readonly locate: Locate;
  readonly isDataCentre: (asn: number) => boolean;
  readonly salt: VisitorSalt;
  readonly maxVisitors: number;
  readonly honourPrivacy: boolean;
  readonly metrics: Metrics;
}

/** Remembers the last `maxVisitors` of a day: whoever clicks once often clicks again. */
export function createVisitors(options: VisitorsOptions): Visitors {
  const { locate, isDataCentre, salt, maxVisitors, honourPrivacy } = options;
  const visitors = createRecent<string, Visitor>(maxVisitors);
  const describeAgent = createAgents();
  const met = options.metrics.counter(
    "edge_visitors_total",
    "Visitors worked out, by their address: many that are not public mean a proxy that is not in TRUSTED_PROXIES",
    ["address"],
  );
  let today: { readonly key: Uint8Array; readonly hash: VisitorHash } | undefined;

  function work(plain: string, agent: Agent, workspaceId: number, hash: VisitorHash): Visitor {
    met.inc({ address: plain === "" ? "unknown" : isPublic(plain) ? "public" : "private" });
    const { country, region, asn, json, jsonWithoutCity } = locate(plain);
    const untracked = honourPrivacy && agent.asksPrivacy;
    const id = plain === "" || untracked ? "" : hash(workspaceId, plain, agent.userAgent);
    return {
      id,
      workspaceId,
      country,
      region,
      userAgent: agent.userAgent,
      equipment: agent.equipment,
      bot: agent.bot | (isDataCentre(asn) ? botReasons.data_centre.bit : 0),
      untracked,
      json: flat(`${untracked ? jsonWithoutCity : json},"asn":${asn},${agent.json},"visitor":"${id}"`),
    };
  }

  return {
    describe(address, headers, workspaceId, ts) {
      const key = salt(dayOf(ts));
      if (today?.key !== key) {
        today = { key, hash: createVisitorHash(key) };
        visitors.clear();
      }
      const agent = describeAgent(headers);
      const name = `${agent.id} ${address}`;
      const known = visitors.get(name);
      if (known?.workspaceId === workspaceId) return known;
      const visitor = work(unmap(address), agent, workspaceId, today.hash);
      visitors.set(name, visitor);
      return visitor;
    },
    forget: () => visitors.clear(),
  };
}
