import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** An editor saves in several steps, and a checkout changes many files. */
const quietMs = 200;

/** Calls `onChange` once a change to the sources of apps or packages has settled. Disposing ends it. */
export function watchSources(root: string, onChange: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const watchers = sourceFolders(root).map((folder) =>
    watch(folder, { recursive: true }, (_event, file) => {
      if (file === null || !file.endsWith(".ts") || file.endsWith(".test.ts")) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, quietMs);
    }),
  );
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Not the workspaces themselves, because their `node_modules` lead to everything. */
function sourceFolders(root: string): string[] {
  return ["apps", "packages"]
    .flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name, "src")))
    .filter((folder) => existsSync(folder));
}
