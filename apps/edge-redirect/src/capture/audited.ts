import type { AuditMode } from "@sluice/link-store/audit-store.ts";

import type { Auditor } from "../audit/auditor.ts";
import { type ClickParts, encodeClickParts } from "./encode-click.ts";

/** When a click is, and what it is called. */
export interface Moment {
  readonly eventId: string;
  readonly ts: number;
}

/**
 * Takes the next number of the run and journals. Tells the event as it was to be journaled; without parts there is
 * none, but a number is used up all the same.
 */
export type JournalClick = (
  parts: ClickParts | undefined,
  moment: Moment,
  tell: (event: string | undefined) => void,
) => void;

export interface AuditedClick extends Moment {
  readonly parts: ClickParts | undefined;
  readonly linkId: number;
  readonly workspaceId: number;
}

/** Records clicks that have an audit row. Resolves to whether there is one click more. */
export function createAudited(options: {
  readonly auditor: Auditor;
  readonly journal: JournalClick;
  /** The time of a click now, for the run. */
  readonly time: () => number;
}): (click: AuditedClick, mode: AuditMode) => Promise<boolean> {
  const { auditor, journal, time } = options;

  function write({ eventId, ts, workspaceId, linkId }: AuditedClick, event: string): Promise<boolean> {
    return auditor.record({ eventId, ts, workspaceId, linkId, event });
  }

  return async (click, mode) => {
    const { parts, eventId } = click;
    if (mode === "redirect") {
      const event = await new Promise<string | undefined>((resolve) => journal(parts, click, resolve));
      if (event !== undefined) await write(click, event);
      return true;
    }
    if (parts === undefined) return false;
    if (!(await write(click, encodeClickParts(parts, { ...click, place: "" })))) return false;
    // Later clicks may be in the run by now, and its times never go back.
    await new Promise((resolve) => journal(parts, { eventId, ts: time() }, resolve));
    return true;
  };
}
