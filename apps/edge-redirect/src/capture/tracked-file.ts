import { stat } from "node:fs/promises";

/**
 * Gives a function to be called now and then, one call at a time: it calls `changed` once for each time that the file at
 * `path` is another one, has other content or is gone, and looked the same at the call before: nobody is writing it any
 * more. Looking works on every file system and through every link, where watching does not.
 */
export async function trackFile(path: string, changed: () => Promise<void>): Promise<() => Promise<void>> {
  let seen = await stampOf(path);
  let told = seen;
  return async () => {
    const before = seen;
    seen = await stampOf(path);
    if (seen === told || seen !== before) return;
    told = seen;
    await changed();
  };
}

async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "missing";
  }
}
