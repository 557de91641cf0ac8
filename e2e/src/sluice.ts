import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { inheritedEnvironment } from "./config.ts";

const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url));
const run = promisify(execFile);

/** Settings of the command line: where everything is. */
export type Addresses = Readonly<Record<string, string>>;

/** What `sluice` prints; its lines. Rejects, with what it says on standard error, when it does not end with 0. */
export async function sluice(addresses: Addresses, ...args: string[]): Promise<string[]> {
  const env = { ...inheritedEnvironment(), ...addresses };
  const { stdout } = await run(process.execPath, [main, ...args], { env });
  return stdout.trim().split("\n");
}

/** Makes a target on this machine, and has it tested: `endpoint` gives its id and its secret, `pixel` its id. */
export async function makeTarget(
  addresses: Addresses,
  group: "endpoint" | "pixel",
  url: string,
): Promise<string[]> {
  // The clicks are those of a program.
  const create = ["create", url, "--bots", "--no-test"];
  const rates = ["--max-per-second", "10000", "--max-in-flight", "50"];
  const made = await sluice(addresses, group, ...create, ...rates);
  const [id = ""] = made;
  await sluice(addresses, group, "allow-private", id);
  await sluice(addresses, group, "test", id);
  return made;
}
