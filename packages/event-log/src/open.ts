import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { EventLogError, type EventLog } from "./event-log.ts";

/** What every adapter is given. */
export interface EventLogDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Opens the event log that the URL's scheme names: `kafka://…`, `redis://…`, `journal:///path` or `memory:`. Only that adapter's
 * code and driver are loaded. Rejects with `misuse` for a URL that it does not understand and with `unavailable`
 * when the log cannot be reached.
 */
export async function openEventLog(url: string, deps: EventLogDeps): Promise<EventLog> {
  const scheme = /^([a-z+]+):/.exec(url)?.[1] ?? "";
  switch (scheme) {
    case "kafka": {
      const { openKafkaEventLog } = await import("./kafka/event-log.ts");
      return await openKafkaEventLog(url, deps);
    }
    case "redis":
    case "rediss":
    case "redis+sentinel":
    case "rediss+sentinel": {
      const { openRedisEventLog } = await import("./redis/event-log.ts");
      return await openRedisEventLog(url, deps);
    }
    case "journal": {
      const { openJournalEventLog } = await import("./journal/event-log.ts");
      return await openJournalEventLog(url, deps);
    }
    case "memory": {
      const { openMemoryEventLog } = await import("./memory/event-log.ts");
      return openMemoryEventLog();
    }
    default:
      throw new EventLogError(
        "misuse",
        `an event log goes by kafka://, redis://, redis+sentinel://, journal:/// or memory:, not by "${scheme}:"`,
      );
  }
}
