// While an image is built: has Node compile what the app will load, so that the first start finds it done.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

// Without any configuration a service ends as soon as all that it imports is loaded; the command line prints its help.
spawnSync(process.execPath, ["app/src/main.ts", "--help"]);
// Adapters are loaded only when a URL names them.
for (const path of globSync(["apps/*/src/**/*.ts", "packages/*/src/**/*.ts"])) {
  for (const [, target = ""] of readFileSync(path, "utf8").matchAll(/await import\("(\.[^"]+)"\)/g)) {
    await import(resolve(dirname(path), target));
  }
}
