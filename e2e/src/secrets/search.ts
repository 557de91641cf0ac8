import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

// For the test that no secret can be read.

/** By name. */
export const secrets = new Map<string, string>();

/** The one of this name, 32 characters: letters and digits alone, so that no URL spells it in another way. */
export function secret(name: string): string {
  const value = secrets.get(name) ?? `canary${secrets.size}${randomUUID().replaceAll("-", "")}`.slice(0, 32);
  secrets.set(name, value);
  return value;
}

/** The names of the secrets that are in a text: as they are, or as a login of HTTP. */
export function foundIn(text: string): string[] {
  const decoded = [...text.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)].map(([word]) =>
    Buffer.from(word, "base64").toString("latin1"),
  );
  const all = [text, ...decoded].join("\n");
  return [...secrets].filter(([, value]) => all.includes(value)).map(([name]) => name);
}

/** The secrets on the command lines of all processes of this machine, until it is told to stop. */
export function watchCommandLines() {
  const seen = new Set<string>();
  let looks = 0;
  const stop = new AbortController();
  const done = (async () => {
    while (!stop.signal.aborted) {
      const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
      const lines = await Promise.all(
        pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
      );
      for (const name of foundIn(lines.join("\n"))) seen.add(name);
      looks += 1;
      // An app takes longer to start and to end.
      await delay(100);
    }
  })();
  return async () => {
    stop.abort();
    await done;
    return { seen: [...seen], looks };
  };
}
