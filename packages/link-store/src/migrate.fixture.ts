// Migrates as a process of its own, for tests that run two of them or kill one: `node migrate.fixture.ts <url> [directory]`
import { silentLog } from "@sluice/service/log.ts";
import { migrate } from "./migrate.ts";

const [url = "", directory] = process.argv.slice(2);
await migrate(url, { log: silentLog, ...(directory === undefined ? {} : { directory }) });
