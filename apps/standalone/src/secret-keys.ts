import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The keys under which credentials are kept in Postgres: drawn at the first start, and for its owner's eyes alone. Whoever
 * loses the file loses the secrets of all endpoints and integrations.
 */
export async function readSecretKeys(dataDir: string): Promise<string> {
  const path = join(dataDir, "secret-keys");
  const kept = await readFile(path, "utf8").catch(() => "");
  if (kept !== "") return kept.trim();
  const fresh = randomBytes(32).toString("base64");
  // Whole or not at all: half a key would be taken for one.
  await writeFile(`${path}.new`, `${fresh}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return fresh;
}
