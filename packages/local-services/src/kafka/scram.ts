import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { classPath } from "../java.ts";
import { kafkaHome } from "./config.ts";
import { archiveOption } from "./java.ts";

/** Gives a user of a running broker a password for both forms of SCRAM: the broker keeps these itself. For tests. */
export async function setScramPassword(broker: string, user: string, password: string): Promise<void> {
  // Both in one request the broker refuses.
  await Promise.all(
    ["SCRAM-SHA-256", "SCRAM-SHA-512"].map((mechanism) =>
      alterUser(broker, user, `${mechanism}=[iterations=4096,password=${password}]`),
    ),
  );
}

async function alterUser(broker: string, user: string, config: string): Promise<void> {
  await promisify(execFile)("java", [
    "-XX:TieredStopAtLevel=1",
    ...archiveOption(kafkaHome),
    ...classPath(kafkaHome),
    "kafka.admin.ConfigCommand",
    "--bootstrap-server",
    broker,
    "--alter",
    "--add-config",
    config,
    "--entity-type",
    "users",
    "--entity-name",
    user,
  ]);
}
