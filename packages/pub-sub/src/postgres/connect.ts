import { Socket } from "node:net";
import { Client } from "pg";
import { type Connect, connectMs } from "../connection.ts";

/** LISTEN and NOTIFY on one session. */
export function connectPostgres(url: string): Connect {
  return async (deliver) => {
    // Of our own, because the driver's way of ending waits for the server.
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      application_name: "sluice messages",
      stream: () => socket,
    });
    const broken = Promise.withResolvers<unknown>();
    client.on("error", broken.resolve);
    client.on("end", () => broken.resolve("the server has ended the connection"));
    client.on("notification", ({ channel, payload = "" }) => deliver(channel, payload));
    let last: Promise<unknown> = Promise.resolve();
    // One after the other, as the driver wants it.
    const run = async (text: string, values: string[] = []): Promise<void> => {
      const query = last.catch(() => {}).then(() => client.query(text, values));
      last = query;
      await query;
    };
    const end = async (): Promise<void> => {
      socket.destroy();
      broken.resolve("closed");
    };
    try {
      await client.connect();
    } catch (error) {
      await end();
      throw error;
    }
    return {
      publish: (channel, message) => run("SELECT pg_notify($1, $2)", [channel, message]),
      listen: (channel) => run(`LISTEN ${client.escapeIdentifier(channel)}`),
      unlisten: (channel) => run(`UNLISTEN ${client.escapeIdentifier(channel)}`),
      ping: () => run("SELECT"),
      broken: broken.promise,
      [Symbol.asyncDispose]: end,
    };
  };
}
