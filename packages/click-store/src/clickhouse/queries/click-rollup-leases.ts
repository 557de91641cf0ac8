import type { Connection } from "../connection.ts";

/** Who holds the lease now; undefined when nobody does. */
export async function selectHolder(
  connection: Connection,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [owner] = await connection.select(
    "SELECT owner FROM click_rollup_leases FINAL WHERE name = {name:String} AND until > now64(3, 'UTC')",
    { name },
    signal,
  );
  return owner;
}

export async function insertLease(
  connection: Connection,
  { name, owner, forMs }: { name: string; owner: string; forMs: number },
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_rollup_leases (name, owner, until)
     SELECT {name:String}, {owner:String}, now64(3, 'UTC') + toIntervalMillisecond({forMs:UInt64})`,
    { name, owner, forMs },
    signal,
  );
}
