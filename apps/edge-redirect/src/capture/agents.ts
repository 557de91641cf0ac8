import type { IncomingHttpHeaders } from "node:http";

import { limits } from "@sluice/click-event/click-event.ts";

import { clip } from "@sluice/click-event/clip.ts";
import { createRecent } from "../recent.ts";
import { type Equipment, readEquipment } from "../rules/equipment.ts";
import { botOfAgent } from "./agent-kinds.ts";

/** What a browser says of itself with every request. */
export interface Agent {
  /** No other agent has it; the same agent gets a new one when it says something else. */
  readonly id: number;
  readonly userAgent: string;
  /** The part of a click's JSON that it decides. */
  readonly json: string;
  /** The bits of `botReasons` that it gives. */
  readonly bot: number;
  /** `Sec-GPC: 1` or `DNT: 1`: asks not to be tracked. */
  readonly asksPrivacy: boolean;
  readonly equipment: Equipment;
}

interface Known extends Agent {
  readonly brands: Hint;
  readonly mobile: Hint;
  readonly platform: Hint;
  readonly platformVersion: Hint;
  readonly model: Hint;
  readonly gpc: Hint;
  readonly dnt: Hint;
}
type Hint = string | string[] | undefined;

/** A few thousand say most of what is said; an entry takes about 1 kB … */
const maxAgents = 4096;
/** … because one that says more than this is read each time. */
const maxRemembered = 2048;

/** Remembers how each user agent introduced itself last, because encoding that costs more than the rest of a click. */
export function createAgents(): (headers: IncomingHttpHeaders) => Agent {
  const agents = createRecent<string, Known>(maxAgents);
  let lastId = 0;
  return (headers) => {
    const userAgent = headers["user-agent"] ?? "";
    const known = agents.get(userAgent);
    if (known !== undefined && isSame(known, headers)) return known;
    lastId += 1;
    const read = readAgent(lastId, userAgent, headers);
    if (lengthOf(read, userAgent) <= maxRemembered) agents.set(userAgent, read);
    return read;
  };
}

/** Of all the texts that an entry holds on to. */
function lengthOf(known: Known, userAgent: string): number {
  const hints = [
    known.brands,
    known.mobile,
    known.platform,
    known.platformVersion,
    known.model,
    known.gpc,
    known.dnt,
  ];
  const texts = [userAgent, known.json, ...hints.map((hint) => hint ?? "")];
  return texts.reduce((length, text) => length + text.length, 0);
}

function isSame(known: Known, headers: IncomingHttpHeaders): boolean {
  return (
    known.brands === headers["sec-ch-ua"] &&
    known.mobile === headers["sec-ch-ua-mobile"] &&
    known.platform === headers["sec-ch-ua-platform"] &&
    known.platformVersion === headers["sec-ch-ua-platform-version"] &&
    known.model === headers["sec-ch-ua-model"] &&
    known.gpc === headers["sec-gpc"] &&
    known.dnt === headers["dnt"]
  );
}

function readAgent(id: number, text: string, headers: IncomingHttpHeaders): Known {
  const userAgent = clip(text, limits.userAgent);
  const known = {
    id,
    userAgent,
    brands: headers["sec-ch-ua"],
    mobile: headers["sec-ch-ua-mobile"],
    platform: headers["sec-ch-ua-platform"],
    platformVersion: headers["sec-ch-ua-platform-version"],
    model: headers["sec-ch-ua-model"],
    gpc: headers["sec-gpc"],
    dnt: headers["dnt"],
  };
  const hints: Record<string, string> = {};
  const hint = (name: string, value: Hint) => {
    if (typeof value === "string" && value !== "") hints[name] = clip(value, limits.clientHint);
  };
  hint("brands", known.brands);
  hint("mobile", known.mobile);
  hint("platform", known.platform);
  hint("platform_version", known.platformVersion);
  hint("model", known.model);
  const asksPrivacy = known.gpc === "1" || known.dnt === "1";
  const fields = { user_agent: userAgent, client_hints: hints, gpc: asksPrivacy };
  return {
    ...known,
    asksPrivacy,
    bot: botOfAgent(userAgent),
    equipment: readEquipment(userAgent, typeof known.platform === "string" ? known.platform : ""),
    json: JSON.stringify(fields).slice(1, -1),
  };
}
