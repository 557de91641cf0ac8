import { createHash } from "node:crypto";

import type { Analyst, Analysts } from "../analysts.ts";
import { connect } from "./connection.ts";
import { createStatements, dropStatements, selectAnalysts } from "./queries/analysts.ts";

/** A person waits. */
const limit = () => AbortSignal.timeout(30_000);

/** See `openAnalysts`. */
export function openClickHouseAnalysts(url: string): Analysts {
  const connection = connect(url);
  async function runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await connection.command(statement, {}, limit());
  }
  return {
    async create(name, workspaceId, password): Promise<Analyst> {
      const user = userOf(name);
      // What the server is told, and may log, is no password. It is drawn at random, so that it needs no salt.
      const hash = createHash("sha256").update(password).digest("hex");
      const [createUser = "", ...rest] = createStatements(user, workspaceId, hash);
      await runAll([createUser]);
      try {
        await runAll(rest);
      } catch (error) {
        await runAll(dropStatements(user)).catch(() => {});
        throw error;
      }
      return { user, workspaceId };
    },
    drop: (name) => runAll(dropStatements(userOf(name))),
    list: () => selectAnalysts(connection, limit()),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Nothing else can become part of a statement: ClickHouse takes no parameters there. */
function userOf(name: string): string {
  if (!/^[a-z0-9_]{1,40}$/.test(name)) throw new Error("an analyst's name was not checked");
  return `analyst_${name}`;
}
