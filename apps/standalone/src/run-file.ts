import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where things are while a supervisor runs: the command line reads it, so that it needs no configuration. */
export interface Addresses {
  readonly databaseUrl: string;
  readonly clickStoreUrl: string;
  readonly eventLogUrl: string;
  /** Those under which credentials are kept. */
  readonly secretKeys: string;
  /** Where the links of `localhost` are served. */
  readonly edgeUrl: string;
}

export interface RunFile extends AsyncDisposable {
  /** An earlier supervisor did not get to remove it: what it had started may still be on its way out. */
  readonly isLeftOver: boolean;
  write(addresses: Addresses): Promise<void>;
}

/** `running.json` in the data directory. Disposing removes it. Holds a password: only its owner may read it. */
export function openRunFile(dataDir: string): RunFile {
  const path = join(dataDir, "running.json");
  return {
    isLeftOver: existsSync(path),
    async write(addresses) {
      // Whole or not at all, for whoever reads it meanwhile.
      await writeFile(`${path}.new`, `${JSON.stringify(addresses)}\n`, { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
    [Symbol.asyncDispose]: () => rm(path, { force: true }),
  };
}
