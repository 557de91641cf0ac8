import type { Client } from "pg";
import { DatabaseError } from "pg";

/** Another process may make it at the same time: then it is there, too. */
export async function createDatabase(client: Client, name: string): Promise<void> {
  try {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } catch (error) {
    const there = error instanceof DatabaseError && ["42P04", "23505"].includes(error.code ?? "");
    if (!there) throw error;
  }
}

/** What its texts are stored as. */
export async function selectEncoding(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<string[]>({ text: "SHOW server_encoding", rowMode: "array" });
  return rows[0]?.[0];
}
