import { type AppProcess, startApp } from "@sluice/testkit/app-process.ts";

/** For tests: the ingester as a process. Disposing ends it at once. */
export function startIngester(environment: Readonly<Record<string, string>>): AppProcess {
  return startApp(new URL("../main.ts", import.meta.url), environment);
}
