import type { Log } from "@sluice/service/log.ts";
import { EventLogError } from "../event-log.ts";
import { infoOf } from "./answers.ts";
import type { Connection } from "./connection.ts";

/** The first one that says what of a claim was deleted, and how far a group is behind. */
const oldestVersion = 7;

/** Rejects with `misuse` for a server that is too old, and warns of one that may lose what it has acknowledged. */
export async function checkServer(connection: Connection, log: Log): Promise<void> {
  const info = infoOf(await connection.send(["INFO"]));
  const version = info.get("redis_version") ?? "";
  if (Number.parseInt(version, 10) < oldestVersion) {
    throw new EventLogError("misuse", `redis: takes a server from ${oldestVersion}.0 on, got ${version}`);
  }
  if (info.get("aof_enabled") === "0") {
    log.warn(
      { setting: "appendonly", takes: "yes", got: "no" },
      "redis: a crash of the server loses clicks that it has acknowledged",
    );
  }
  const policy = info.get("maxmemory_policy");
  if (policy !== "noeviction") {
    log.warn(
      { setting: "maxmemory-policy", takes: "noeviction", got: policy },
      "redis: a server that is full deletes clicks instead of refusing them",
    );
  }
}

/** Another after every start of the server, and on another server. */
export async function runIdOf(connection: Connection): Promise<string> {
  return infoOf(await connection.send(["INFO", "server"])).get("run_id") ?? "";
}
