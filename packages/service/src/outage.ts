import type { Log } from "./log.ts";
import { errorLine } from "./mask.ts";

/** Something that is wrong for a while. It is said when it is first seen, once a minute, and when it is over. */
export interface Outage {
  /** Call it as often as it is seen: something that comes and goes is said no oftener than once a minute either. */
  failing(error: unknown): void;
  /** Call it as often as all is well. */
  over(): void;
}

const repeatMs = 60_000;

/** `messages` are constant text; `fields` say which one it is. `now` counts milliseconds, monotonic. */
export function createOutage(
  log: Log,
  fields: object,
  messages: { failing: string; over: string },
  now: () => number = () => performance.now(),
): Outage {
  let since: number | undefined;
  let saidAt = Number.NEGATIVE_INFINITY;
  let said = false;
  return {
    failing(error) {
      const at = now();
      since ??= at;
      if (at - saidAt < repeatMs) return;
      saidAt = at;
      said = true;
      log.warn({ ...fields, reason: errorLine(error), seconds: seconds(at - since) }, messages.failing);
    },
    over() {
      if (since === undefined) return;
      if (said) log.info({ ...fields, seconds: seconds(now() - since) }, messages.over);
      since = undefined;
      said = false;
    },
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
