import type { ErrorClass, Trouble } from "@sluice/click-store/click-store.ts";
import type { Log } from "@sluice/service/log.ts";
import type { IngestMetrics } from "./metrics.ts";

export interface TroubleWatch {
  /** Each time that the store did not carry out a statement, which will be tried again. */
  seen(trouble: Trouble): void;
  /** Nothing waits for the store any more: what we sent was carried out, or is no longer ours to send. */
  over(): void;
  /** Whether we wait for what only a person can set right. */
  needsPerson(): boolean;
  /** For readiness: throws, saying what to do, while only a person can help or while it has lasted for long. */
  check(): void;
}

export interface TroubleWatchOptions {
  readonly metrics: Pick<IngestMetrics, "trouble">;
  readonly log: Log;
  /** Trouble that should pass by itself makes us not ready once it has lasted for so many ms. */
  readonly patienceMs?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

const whatToDo: Readonly<Record<ErrorClass, string>> = {
  operator:
    "the click store refuses our statements: run `sluice migrate`, check CLICK_STORE_URL and the user's rights; the event log keeps the data",
  retry: "the click store does not store: it is tried again, and the event log keeps the data",
  row: "the click store refuses a row",
};

const sayEveryMs = 60_000;

/** One line in the log a minute and one state for readiness, however often it is tried. */
export function createTroubleWatch(options: TroubleWatchOptions): TroubleWatch {
  const { metrics, log, patienceMs = 60_000, now = () => performance.now() } = options;
  let current: Trouble | undefined;
  let since = 0;
  const saidAt = new Map<ErrorClass, number>();

  return {
    seen(trouble) {
      metrics.trouble.inc({ class: trouble.class, code: `${trouble.code}` });
      if (current === undefined) since = now();
      current = trouble;
      if (now() - (saidAt.get(trouble.class) ?? -Infinity) < sayEveryMs) return;
      saidAt.set(trouble.class, now());
      const level = trouble.class === "operator" ? "error" : "warn";
      log[level](fieldsOf(trouble, now() - since), whatToDo[trouble.class]);
    },
    over() {
      if (current === undefined) return;
      log.info(fieldsOf(current, now() - since), "nothing waits for the click store any more");
      current = undefined;
      saidAt.clear();
    },
    needsPerson: () => current?.class === "operator",
    check() {
      if (current === undefined) return;
      const lastedMs = now() - since;
      if (current.class === "retry" && lastedMs < patienceMs) return;
      const advice = current.advice === undefined ? "" : `; ${current.advice}`;
      throw new Error(
        `${whatToDo[current.class]} (code ${current.code}, for ${Math.round(lastedMs / 1_000)} s)${advice}`,
      );
    },
  };
}

/** Without the server's message, which may quote a row. */
function fieldsOf({ class: errorClass, code, attempt, advice }: Trouble, lastedMs: number): object {
  return { class: errorClass, code, attempt, seconds: Math.round(lastedMs / 1_000), advice };
}
