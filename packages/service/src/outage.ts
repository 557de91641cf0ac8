import type { Log } from "./log.ts";
import { errorLine } from "./mask.ts";

/** Something that is wrong for a while. It is said when it begins, once a minute, and when it is over. */
export interface Outage {
  /** Call it as often as it is seen. */
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
  let saidAt = 0;
  return {
    failing(error) {
      if (since !== undefined && now() - saidAt < repeatMs) return;
      saidAt = now();
      since ??= saidAt;
      const seconds = Math.round((saidAt - since) / 1000);
      log.warn({ ...fields, reason: errorLine(error), seconds }, messages.failing);
    },
    over() {
      if (since === undefined) return;
      log.info({ ...fields, seconds: Math.round((now() - since) / 1000) }, messages.over);
      since = undefined;
    },
  };
}
