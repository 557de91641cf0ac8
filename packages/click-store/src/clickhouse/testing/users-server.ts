import { readFile } from "node:fs/promises";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { migrate } from "../../migrate.ts";
import { connect } from "../connection.ts";
import { never } from "./world.ts";

// For tests: ClickHouse's own HTTP interface, with the users of docker-compose.yml and a customer's.

const passwordOf = (user: string) => `${user}'s & own`;
export const usersFile = await readFile(
  new URL("../../../../../infra/compose/clickhouse/users.xml", import.meta.url),
  "utf8",
);
export const users = usersFile.replaceAll(
  /<password from_env="(\w+)_PASSWORD"\/>/g,
  (_, name: string) => `<password>${passwordOf(name.toLowerCase()).replace("&", "&amp;")}</password>`,
);
/** What `sluice analyst create` makes with SQL, which the server keeps nowhere here. */
const customer = `<clickhouse><users><analyst_acme>
  <password>${passwordOf("analyst_acme").replace("&", "&amp;")}</password>
  <networks><ip>::/0</ip></networks><profile>analyst</profile><quota>analyst</quota>
  <grants><query>GRANT SELECT ON sluice.clicks</query><query>GRANT SELECT ON sluice.click_rollup</query></grants>
  <databases><sluice>
    <clicks><filter>workspace_id = 7</filter></clicks><click_rollup><filter>workspace_id = 7</filter></click_rollup>
  </sluice></databases>
</analyst_acme></users></clickhouse>`;

export async function openUsersServer() {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  const server = stack.use(
    await startClickHouse({
      dataDir,
      log: silentLog,
      users: { "sluice.xml": users, "zcustomer.xml": customer },
    }),
  );
  const as = (user: string, password = passwordOf(user)) =>
    Object.assign(new URL(server.url), {
      pathname: "/sluice",
      username: user,
      password: encodeURIComponent(password),
    }).href;
  // The database as well.
  await migrate(as("migrator"), { log: silentLog });
  const opened = stack.move();
  return {
    as,
    ask: async (user: string, query: string): Promise<string[]> => {
      await using connection = connect(user === "default" ? `${server.url}/sluice` : as(user));
      return await connection.select(query, {}, never);
    },
    tell: async (user: string, statement: string): Promise<void> => {
      await using connection = connect(as(user));
      await connection.command(statement, {}, never);
    },
    /** With settings in the URL, as any client may send them. */
    askWith: async (user: string, settings: string): Promise<string> => {
      const headers = { "x-clickhouse-user": user, "x-clickhouse-key": passwordOf(user) };
      const answer = await fetch(`${server.url}/?${settings}`, { method: "POST", body: "SELECT 1", headers });
      return await answer.text();
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
