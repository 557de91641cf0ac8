import { connect, type Connection } from "../connection.ts";
import { pause } from "../../patience.ts";
import { insertLease, selectHolder } from "../queries/click-rollup-leases.ts";
import { insertCounted, markHours, selectBacklog, selectQuietHours } from "../queries/click-rollup-marks.ts";
import { recountHours } from "../queries/click-rollup.ts";
import type { Rollup } from "../../rollup.ts";
import { quietMs } from "./marker.ts";

/** Below `quietMs`: what one counts is in the table before another may count changes that came meanwhile. */
const timeouts = { serverMs: 120_000, clientMs: 135_000 };
const leaseName = "rollup";
/** Who has found the lease free at the same moment has taken it by then. */
const settleMs = 500;
/** Hours so far apart are in other parts of the table. */
const spanSeconds = 7 * 86_400;
const maxRangeMs = 366 * 86_400_000;

export function openClickHouseRollup(url: string): Rollup {
  const connection = connect(url, timeouts);
  return { ...createRollup(connection), [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}

/** `quiet` for tests that cannot wait ten minutes. */
export function createRollup(
  connection: Connection,
  quiet = quietMs,
): Omit<Rollup, typeof Symbol.asyncDispose> {
  return {
    async lease(owner, forMs, signal) {
      const holder = await selectHolder(connection, leaseName, signal);
      if (holder !== undefined && holder !== owner) return false;
      await insertLease(connection, { name: leaseName, owner, forMs }, signal);
      if (holder === owner) return true;
      await pause(settleMs, signal);
      return (await selectHolder(connection, leaseName, signal)) === owner;
    },
    async recount({ limit, skip }, signal) {
      const quietHours = await selectQuietHours(connection, { quietMs: quiet, limit, skip }, signal);
      const [first] = quietHours;
      if (first === undefined) return 0;
      const near = quietHours.filter(({ hour }) => hour < first.hour + spanSeconds);
      await recountHours(connection, near, signal);
      await insertCounted(connection, near, signal);
      return near.length;
    },
    backlog: (signal) => selectBacklog(connection, signal),
    async markChanged(range, signal) {
      if (range.toTs - range.fromTs > maxRangeMs) throw new TypeError("toTs: at most a year after fromTs");
      await markHours(connection, range, signal);
    },
  };
}
