import type { ErrorCode } from "../click-store.ts";

/**
 * What the operator is told to do about an error code, where it is more than to wait. Every code of the class
 * `operator` has one: nothing else ends it.
 */
export function adviceOn(code: ErrorCode): string | undefined {
  return advice.get(code);
}

const migrate = "the tables are not those of this version: run `sluice migrate`";
const database = "the database is not there: run `sluice migrate`, or mend its name in CLICK_STORE_URL";
const user = "ClickHouse does not accept the user: mend name and password in CLICK_STORE_URL";
const address = "ClickHouse does not accept the user from this address: allow the ingester's address";
const rights = "the user lacks rights: grant it SELECT and INSERT on the database's tables";
const readOnly = "the user's profile forbids what is needed: give it one that may write and change settings";
const version = "this ClickHouse does not know what is sent: look which version it is";
const readOnlyTable = "the table can no longer be written: see ClickHouse's own log for why";
const memory = "ClickHouse is short of memory, so batches are halved: give it more, or lower BATCH_MAX_ROWS";
const disk = "ClickHouse's disk is full: make room";
const parts =
  "ClickHouse merges too slowly, so flushes become fewer and larger: look at its disk and system.merges";
const busy = "ClickHouse is busy: look at system.processes, and at the limits of the user's profile";
const slow = "ClickHouse takes too long, so batches are halved: look at its load, and lower BATCH_MAX_ROWS";
const replicas = "ClickHouse's replicas or its Keeper are away: bring them back";

const advice: ReadonlyMap<ErrorCode, string> = new Map([
  ...([16, 20, 47, 60, 218] as const).map((code) => [code, migrate] as const),
  [81, database],
  ...([192, 193, 194, 516] as const).map((code) => [code, user] as const),
  [195, address],
  ...([291, 497] as const).map((code) => [code, rights] as const),
  ...([164, 392, 452] as const).map((code) => [code, readOnly] as const),
  ...([62, 73, 115, 344] as const).map((code) => [code, version] as const),
  [774, readOnlyTable],
  ...([173, 241] as const).map((code) => [code, memory] as const),
  ...([75, 243] as const).map((code) => [code, disk] as const),
  [252, parts],
  ...([201, 202, 203, 290, 364, 745] as const).map((code) => [code, busy] as const),
  [159, slow],
  ...([242, 244, 254, 265, 285, 286, 289, 319, 999] as const).map((code) => [code, replicas] as const),
]);
