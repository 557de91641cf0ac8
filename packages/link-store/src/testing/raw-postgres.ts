import { Client } from "pg";

/** A connection past the store, for tests that look behind it or stand in its way. */
export async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Runs one statement on a connection of its own and gives its rows. */
export async function sql(url: string, text: string): Promise<object[]> {
  await using client = await connect(url);
  return (await client.query<object>(text)).rows;
}
