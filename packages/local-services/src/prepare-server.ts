import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { promisify } from "node:util";

import { claimDataDir, notNewer } from "./data-dir.ts";
import { LocalServiceError } from "./error.ts";
import { choosePort } from "./port.ts";
import { type Launch, stopLeftover } from "./server.ts";

interface Prepared extends Pick<Launch, "name" | "dataDir" | "stopSignal" | "stopWithinMs" | "log"> {
  /** Of what defines the format on disk. */
  readonly version: string;
  /** A free one by default. */
  readonly port?: number | undefined;
}

/**
 * What comes before the start of a server: the directory is its own, nothing that was left over runs on it, and the port
 * is free. Gives what `launch` takes of that. Rejects with a LocalServiceError.
 */
export async function prepareServer({ version, port, ...server }: Prepared) {
  const { name } = server;
  const mark = { service: name, version };
  const dataDir = await claimDataDir(server.dataDir, mark, (found) => notNewer(found, version));
  const own = { ...server, dataDir };
  await stopLeftover(own);
  return { ...own, port: await choosePort(name, "127.0.0.1", port) };
}

/**
 * The version of a program of the machine's own: what `shape` finds in its answer to `flag`. Rejects with a
 * LocalServiceError `missing` where it is not on the path; `instead` says what else there is.
 */
export async function versionOf(program: string, flag: string, shape: RegExp, instead = ""): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, [flag]);
    return shape.exec(stdout + stderr)?.[1] ?? "0";
  } catch (cause) {
    const why = `${program}: there is no ${program} on the path${instead}`;
    throw new LocalServiceError("missing", why, { cause });
  }
}

/** Resolves when somebody listens there. */
export async function accepts(port: number, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(2_000)]);
  const socket = connect({ host: "127.0.0.1", port, signal: limit });
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}
