import { explainTls } from "@sluice/service/tls-settings.ts";
import kafkajs from "kafkajs";
import { EventLogError } from "../event-log.ts";

/** The error that the broker answered with, wherever the driver has wrapped it. */
function answer(error: unknown) {
  let cause = error;
  // The driver wraps twice at most; a chain of causes may be a ring.
  for (let depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause instanceof kafkajs.KafkaJSProtocolError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

/** The broker's name for what went wrong, such as UNKNOWN_MEMBER_ID; undefined when no broker has answered. */
export function brokerAnswer(error: unknown): string | undefined {
  return answer(error)?.type;
}

/** Whether trying again may help. Where no broker has answered, it may. */
export function mayPass(error: unknown): boolean {
  return answer(error)?.retriable ?? true;
}

/** As `unavailable`, unless it is one of ours already. `what` was being done, as "reading topic clicks". */
export function unavailable(error: unknown, what: string): EventLogError {
  if (error instanceof EventLogError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const advice = explainTls(error, setting) ?? explainLogin(error);
  const told = advice === undefined ? reason : `${reason}: ${advice}`;
  return new EventLogError("unavailable", `kafka: ${what}: ${told}`, { cause: error });
}

/** Where a person finds the parameters; that of the fan-out may be another. */
const setting = "EVENT_LOG_URL";

function explainLogin(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause.name === "KafkaJSSASLAuthenticationError") {
      return /not supported by the server/.test(cause.message)
        ? `mend sasl in ${setting}, or allow it on the brokers`
        : `mend user and password in ${setting}, or sasl where the brokers know the user by another mechanism`;
    }
    cause = cause.cause;
  }
  return undefined;
}

/** Settles as the promise does, or rejects with `unavailable` after so many milliseconds. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new EventLogError("unavailable", `kafka: ${what}: no answer within ${Math.round(ms)} ms`));
  }, ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the promise has settled either way, but no longer than so many milliseconds. */
export async function settled(ms: number, promise: Promise<unknown>): Promise<void> {
  await within(ms, "", promise).catch(() => {});
}
