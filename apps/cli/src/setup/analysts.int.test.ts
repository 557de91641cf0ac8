import { migrate } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

import { run } from "../testing/run.ts";

const customer = `<clickhouse><users><analyst_acme>
  <password>x</password><networks><ip>::/0</ip></networks>
  <databases><default>
    <clicks><filter>workspace_id = 1</filter></clicks><click_rollup><filter>workspace_id = 1</filter></click_rollup>
  </default></databases>
</analyst_acme></users></clickhouse>`;

async function openServers() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  await migrate(postgres.url, { log: silentLog });
  await using links = openLinkStore(postgres.url, { log: silentLog });
  await links.ensureDomain("go.example", "acme");
  const { path: dataDir } = stack.use(await tempDir());
  const users = { "customer.xml": customer };
  const clickhouse = stack.use(await startClickHouse({ dataDir, log: silentLog, users }));
  const env = { DATABASE_URL: postgres.url, CLICK_STORE_URL: `${clickhouse.url}/default` };
  const opened = stack.move();
  return { env, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("analysts of one workspace", openServers, (servers) => {
  const sluice = (...args: string[]) => run(servers().env, ["analyst", ...args]);

  test("are listed with their workspace", async () => {
    expect(await sluice("list")).toMatchObject({ code: 0, out: ["analyst_acme  workspace 1"] });
    const { out } = await sluice("list", "--json");
    expect(out).toEqual(['{"user":"analyst_acme","workspaceId":1}']);
  });

  test("what the server says when it keeps no users is said, and no password is", async () => {
    const { code, out, err } = await sluice("create", "new", "--workspace", "acme");
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err).toMatch(/^sluice: .*ACCESS_STORAGE_FOR_INSERTION_NOT_FOUND/);
    expect(err).not.toMatch(/[\da-f]{64}/);
  });

  test.for([
    [["create", "new", "--workspace", "nobody"], "there is no workspace nobody"],
    [["create", "a; DROP", "--workspace", "acme"], 'name takes 1 to 40 of a-z, 0-9 and _; got "a; DROP"'],
    [["create", "new"], "required option '--workspace <name>'"],
  ] as const)("%j is refused", async ([args, reason]) => {
    const { code, err } = await sluice(...args);
    expect(code).toBe(1);
    expect(err).toContain(reason);
  });

  test("Postgres has none", async () => {
    const env = { ...servers().env, CLICK_STORE_URL: servers().env.DATABASE_URL };
    expect((await run(env, ["analyst", "list"])).err).toContain("CLICK_STORE_URL takes a ClickHouse here");
  });
});
