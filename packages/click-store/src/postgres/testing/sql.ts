import { Client } from "pg";

/** Runs statements on a connection of their own, past the store, and gives the rows of one. */
export async function sql(url: string, text: string): Promise<string[][]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<string[]>({ text, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}
