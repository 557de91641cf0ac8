import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { ServiceMissing } from "@sluice/testkit/provide.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const requirements = join(import.meta.dirname, "requirements.txt");

export interface KubernetesTools extends AsyncDisposable {
  readonly kubectl: string;
  /** The JSON schemas of one version of the API, `1.37` say. */
  schemaDir(version: string): string;
}

/** Gets both by pip, some seconds and 170 MB, the first time. Rejects with ServiceMissing where that cannot be. */
export async function kubernetesTools(): Promise<KubernetesTools> {
  const pins = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex")
    .slice(0, 12);
  const home = join(root, `.cache/kubernetes-${pins}`);
  if (!existsSync(home)) await fetchInto(home);
  return {
    kubectl: join(home, "bin/kubectl"),
    schemaDir: (version) =>
      join(home, `kubernetes_validate/kubernetes-json-schema/v${version}.0-local-strict`),
    async [Symbol.asyncDispose]() {},
  };
}

/** Whole or not at all; two at once do no harm. */
async function fetchInto(home: string): Promise<void> {
  await mkdir(join(home, ".."), { recursive: true });
  const unfinished = await mkdtemp(`${home}.`);
  const options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile"];
  try {
    await run("python3", ["-m", "pip", "install", ...options, "--target", unfinished, "-r", requirements]);
    await rename(unfinished, home);
  } catch (cause) {
    if (existsSync(home)) return;
    throw new ServiceMissing(`kubectl cannot be had by pip: ${String(cause)}`, { cause });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
