// Installs the workspace when it is not installed as the lockfile says. Plain JavaScript: it runs on the
// Node of the machine (20 or later), before our own Node 24 is there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".sluice-install");

/** Every file whose change asks for another install: manifests, lockfile, workspace file, patches. */
function inputs() {
  const workspaces = ["apps", "packages"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  return ["", "e2e", "bench", ...workspaces]
    .map((folder) => join(folder, "package.json"))
    .concat("pnpm-lock.yaml", "pnpm-workspace.yaml")
    .concat(
      existsSync(join(root, "patches"))
        ? readdirSync(join(root, "patches")).map((f) => join("patches", f))
        : [],
    )
    .filter((file) => existsSync(join(root, file)));
}

const hash = createHash("sha256");
for (const file of inputs())
  hash
    .update(file)
    .update("\0")
    .update(readFileSync(join(root, file)))
    .update("\0");
const stamp = hash.digest("hex");

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  process.stderr.write("sluice: installing what is missing (about half a minute the first time)\n");
  const args = [
    "--yes",
    "--prefer-offline",
    packageManager,
    "install",
    "--frozen-lockfile",
    ...process.argv.slice(2),
  ];
  const { status, error } = spawnSync("npx", args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (error !== undefined || status !== 0) {
    process.stderr.write(
      `sluice: the install failed (${error?.message ?? `exit ${status}`}); its output is above\n`,
    );
    process.exit(1);
  }
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}
