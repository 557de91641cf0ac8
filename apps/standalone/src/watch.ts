import { watch } from "node:fs";
import { join } from "node:path";

/** An editor saves in several steps, and a checkout changes many files. */
const quietMs = 200;

/** Calls `onChange` once a change to the sources of apps and packages has settled. Disposing ends it. */
export function watchSources(root: string, onChange: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const watchers = ["apps", "packages"].map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, file) => {
      if (file === null || !/\/src\/.*\.ts$/.test(file) || file.endsWith(".test.ts")) return;
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
