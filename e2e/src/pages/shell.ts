import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { inheritedEnvironment } from "../config.ts";

const main = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url));
/** For a command that waits for a dispatcher on a busy machine. */
const timeout = 60_000;

/** A folder in which commands are typed as pages have them. */
export interface Shell {
  /**
   * What it printed, both outputs as they came, and whether it ended with status 0. With a signal it is given that once it
   * has printed a line, and may end by it.
   */
  type(command: string, stopBy?: NodeJS.Signals): Promise<{ isWell: boolean; printed: string }>;
}

/**
 * A shell in that folder, for an installation that keeps its data in `dataDir`. `sluice` and `npm run -s sluice --` are the
 * command line itself, without npm, which would take a second each time.
 */
export async function openShell(folder: string, dataDir: string): Promise<Shell> {
  const sluice = `exec '${process.execPath}' '${main}' "$@"\n`;
  const npm = `[ "$1 $2 $3 $4" = "run -s sluice --" ] || { echo "not here: npm $*"; exit 64; }\nshift 4\n`;
  for (const [name, text] of [["sluice", sluice] as const, ["npm", npm + sluice] as const]) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}`);
    await chmod(join(folder, name), 0o755);
  }
  // A page that shows a request shows one that is answered well.
  await writeFile(join(folder, ".curlrc"), "fail\nsilent\nshow-error\n");
  const inherited = inheritedEnvironment();
  const env = {
    ...inherited,
    PATH: `${folder}:${inherited["PATH"] ?? ""}`,
    SLUICE_DATA_DIR: dataDir,
    CURL_HOME: folder,
    NODE_COMPILE_CACHE: join(folder, "compiled"),
  };
  return {
    async type(command, stopBy) {
      // Stopped as a terminal does it: the whole group.
      const child = spawn("/bin/bash", ["-c", command], { cwd: folder, env, timeout, detached: true });
      child.stdin.end();
      let printed = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
          if (stopBy !== undefined && child.pid !== undefined && printed.includes("\n"))
            process.kill(-child.pid, stopBy);
        });
      await once(child, "close");
      const { exitCode, signalCode } = child;
      return { isWell: exitCode === 0 || (stopBy !== undefined && signalCode === stopBy), printed };
    },
  };
}
