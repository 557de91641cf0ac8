import { uuidv7 } from "@sluice/click-event/uuid.ts";
import type { Attempt } from "../attempts.ts";

/** For tests: an attempt that delivered a click, but for what is given. */
export function sampleAttempt(fields: Partial<Attempt> = {}): Attempt {
  const { ts = Date.now() } = fields;
  return {
    eventId: uuidv7(ts),
    eventType: "link.clicked",
    target: "ep_1",
    workspaceId: 1,
    ts,
    number: 1,
    replayed: false,
    outcome: "delivered",
    code: "",
    status: 200,
    durationMs: 12,
    nextAt: 0,
    response: "",
    ...fields,
  };
}
