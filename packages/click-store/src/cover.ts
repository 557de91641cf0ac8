import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import type { DeadLetter } from "./click-store.ts";
import type { Erasure } from "./erasures.ts";

type Click = Pick<ClickEvent, "workspace_id" | "link_id" | "visitor" | "ts">;

/** Says what a list of erasures takes. Costs one look into a map for a click of a workspace that has none. */
export interface Cover {
  takes(click: Click): boolean;
  /**
   * As for the click that the bytes are, or as far as they say whose they are: bytes that cannot be decoded are taken
   * when they name the workspace, and the link or the visitor. A letter without a time has that of its record.
   */
  takesLetter(letter: Pick<DeadLetter, "value" | "appendedAt">): boolean;
}

/** Of one workspace, up to which `ts`. */
interface Reach {
  all: number;
  readonly links: Map<number, number>;
  readonly visitors: Map<string, number>;
}

function newReach(): Reach {
  return { all: -Infinity, links: new Map(), visitors: new Map() };
}

/** Of each workspace, link and visitor one at most. */
export function createCover(erasures: readonly Erasure[]): Cover {
  const workspaces = new Map<number, Reach>();
  for (const { workspaceId, linkId, visitor, upTo } of erasures) {
    const reach = workspaces.get(workspaceId) ?? newReach();
    workspaces.set(workspaceId, reach);
    if (linkId !== undefined) reach.links.set(linkId, upTo);
    else if (visitor !== undefined) reach.visitors.set(visitor, upTo);
    else reach.all = upTo;
  }

  function takes({ workspace_id, link_id, visitor, ts }: Click): boolean {
    const reach = workspaces.get(workspace_id);
    if (reach === undefined) return false;
    const { all, links, visitors } = reach;
    return ts <= all || ts <= (links.get(link_id) ?? -Infinity) || ts <= (visitors.get(visitor) ?? -Infinity);
  }

  return {
    takes,
    takesLetter({ value, appendedAt }) {
      if (workspaces.size === 0) return false;
      const decoded = decodeRecord(value);
      if (decoded.kind === "click") return takes(decoded.event);
      return decoded.kind === "undecodable" && takes(legible(value, appendedAt));
    },
  };
}

export const emptyCover = createCover([]);

/** In a text of ours each quote has a backslash before it, so that no visitor can write such a field. */
const fields = {
  workspace: /"workspace_id"\s*:\s*(\d{1,10})(?!\d)/,
  link: /"link_id"\s*:\s*(\d{1,16})(?!\d)/,
  visitor: /"visitor"\s*:\s*"([0-9a-f]{32})"/,
  ts: /"ts"\s*:\s*(\d{1,15})(?!\d)/,
};

function legible(value: Uint8Array, appendedAt: number): Click {
  const text = Buffer.from(value).toString("latin1");
  const read = (field: RegExp) => field.exec(text)?.[1];
  return {
    workspace_id: Number(read(fields.workspace)),
    link_id: Number(read(fields.link)),
    visitor: read(fields.visitor) ?? "",
    ts: Number(read(fields.ts) ?? appendedAt),
  };
}
