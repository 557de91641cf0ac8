import { randomBytes } from "node:crypto";
import { silentLog } from "@sluice/service/log.ts";
import { openTargetStore } from "../targets/open-targets.ts";
import type { TargetQuotas, TargetStore } from "../targets/target-store.ts";
import { openTestStore } from "./store.ts";

export const drawKey = (): string => randomBytes(32).toString("base64");

/** A Postgres with workspaces 1 and 2, and target stores on it, each with the keys it is asked for. */
export async function openTargetWorld(quotas: Partial<TargetQuotas> = {}) {
  await using stack = new AsyncDisposableStack();
  const { url, store: links } = stack.use(await openTestStore());
  const key = drawKey();
  const targets = stack.use(openTargetStore(url, { log: silentLog, keys: [key], quotas }));
  const opened = stack.move();
  return {
    url,
    links,
    key,
    targets,
    withKeys: (keys: readonly string[], log = silentLog): TargetStore =>
      opened.use(openTargetStore(url, { log, keys })),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
