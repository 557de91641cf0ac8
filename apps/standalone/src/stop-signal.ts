import type { Log } from "@sluice/service/log.ts";

/** Ctrl-C comes twice in the same millisecond: from the terminal and from npm. */
const echoMs = 500;

/**
 * Aborts at the first SIGTERM, SIGINT or SIGHUP. At a second one that is not the first one's echo the process ends
 * at once, and whatever listens to its `exit` has to end what it has started.
 */
export function stopSignal(log: Log): AbortSignal {
  const stopping = new AbortController();
  let stoppedAt = 0;
  function onSignal(name: NodeJS.Signals): void {
    if (!stopping.signal.aborted) {
      stoppedAt = performance.now();
      log.info({ signal: name }, "stopping; once more to leave at once, which loses nothing either");
      stopping.abort();
    } else if (performance.now() - stoppedAt > echoMs) {
      process.exit(1);
    }
  }
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, onSignal);
  return stopping.signal;
}
