// While an image is built: has Node compile what the app will load, so that the first start finds it done.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

// Without any configuration a service ends as soon as all that it imports is loaded; the command line prints its help.
spawnSync(process.execPath, ["app/src/main.ts", "--help"]);
// Adapters are loaded only when a URL names them.
for (const file of named(/await import\("(\.[^"]+)"\)/g)) await import(file);
// A thread's code ends as soon as it finds that it is in none.
for (const file of named(/new Worker\(new URL\("(\.[^"]+)"/g)) await import(file).catch(() => {});

/** Files that sources name in such a way. */
function named(way: RegExp): string[] {
  return globSync(["apps/*/src/**/*.ts", "packages/*/src/**/*.ts"]).flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(way)].map(([, file = ""]) => resolve(dirname(path), file)),
  );
}
