import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import { Client, escapeIdentifier, escapeLiteral } from "pg";

import { invalid } from "./invalid.ts";
import { LinkStoreError } from "./link-store.ts";
import { toLinkStoreError } from "./postgres.ts";

/** A service that logs in to Postgres as somebody who may do what it does, and nothing else. */
export type Service = "edge" | "ingester" | "dispatcher";

export interface Login {
  readonly user: string;
  readonly password: string;
}

/** What a service may do with the tables of links, as SQL in which the role is called `:"role"`, as psql has it. */
export async function linkGrants(service: Service): Promise<string> {
  return await readFile(new URL(`../access/${service}.sql`, import.meta.url), "utf8");
}

/**
 * Makes a role that may log in with this password and do what `grants` say, as `linkGrants` gives them; one that is
 * there gets password and rights. `url` is the tables' owner's, who must be allowed to make roles. Safe to repeat.
 * Rejects with a LinkStoreError: `invalid` for a role that needs no grants, and for a password beyond ASCII.
 */
export async function giveLogin(url: string, { user, password }: Login, grants: string): Promise<void> {
  if (!/^[\x20-\x7e]+$/.test(password))
    throw invalid("password", "printable ASCII, at least one character", "another");
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
    application_name: "sluice access",
  });
  client.on("error", () => {});
  const role = escapeIdentifier(user);
  // As a verifier, which the server's log may show: whoever has it cannot log in with it.
  const login = `ROLE ${role} LOGIN PASSWORD ${escapeLiteral(scramVerifier(password))}`;
  try {
    await client.connect();
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    const { rows } = await client.query<{ owner: boolean }>(
      "SELECT rolname = current_user OR rolsuper AS owner FROM pg_roles WHERE rolname = $1",
      [user],
    );
    if (rows[0]?.owner === true)
      throw invalid("user", "a role that is no superuser and not the owner of the tables", user);
    await client.query(`${rows.length === 0 ? "CREATE" : "ALTER"} ${login}`);
    await client.query(grants.replaceAll(':"role"', () => role));
    await client.query("COMMIT");
  } catch (error) {
    throw error instanceof LinkStoreError ? error : toLinkStoreError(error);
  } finally {
    await client.end();
  }
}

/** Any number that nothing else in the database locks. */
const lock = 7_305_818_004;

/** RFC 5803, section 3, in the form that Postgres keeps: what a password becomes before it leaves this process. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4_096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const hmac = (text: string) => createHmac("sha256", salted).update(text).digest();
  const storedKey = createHash("sha256").update(hmac("Client Key")).digest("base64");
  const serverKey = hmac("Server Key").toString("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
