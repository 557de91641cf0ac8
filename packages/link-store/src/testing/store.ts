import type { Log } from "@sluice/service/log.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import type { LinkStore } from "../link-store.ts";
import { migrate } from "../migrate.ts";
import { openLinkStore } from "../open.ts";

export interface OpenedStore extends AsyncDisposable {
  readonly url: string;
  readonly store: LinkStore;
}

/** A store on a Postgres of its own, with the domain `a.example` of workspace `one`, and `b.example` of `two`. */
export async function openTestStore(log: Log = silentLog): Promise<OpenedStore> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await testPostgres());
  await migrate(url, { log });
  const store = stack.use(openLinkStore(url, { log }));
  await store.ensureDomain("a.example", "one");
  await store.ensureDomain("b.example", "two");
  const opened = stack.move();
  return { url, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
