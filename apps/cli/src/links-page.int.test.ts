import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { migrate } from "@sluice/link-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";

const page = join(import.meta.dirname, "../../../docs/links.md");
const sluice = "npm run -s sluice -- ";
/** The one command that needs a record in a real DNS. */
const skipped = `${sluice}domain verify go.example.com`;

describeWith("docs/links.md", testPostgres, (postgres) => {
  test("shows commands that work, in their order", async () => {
    await migrate(postgres().url, { log: silentLog });
    const env = {
      DATABASE_URL: postgres().url,
      NODE: process.execPath,
      MAIN: join(import.meta.dirname, "main.ts"),
    };
    const lines = (await readFile(page, "utf8")).split("\n");
    const commands = lines.filter((line) => line.includes(sluice) && line !== skipped);
    expect(commands.length).toBeGreaterThan(15);
    for (const command of commands) {
      await promisify(execFile)("/bin/sh", ["-c", command.replace(sluice, '"$NODE" "$MAIN" ')], { env });
    }
  });

  test("names every option that a link may have", async () => {
    const text = await readFile(page, "utf8");
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(import.meta.dirname, "main.ts"),
      "link",
      "create",
      "--help",
    ]);
    const names = [...stdout.matchAll(/ --([a-z-]+)/g)].map(([, name = ""]) => name);
    expect(names.filter((name) => name !== "help" && !text.includes(`--${name}`))).toEqual([]);
  });
});
