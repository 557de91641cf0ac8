import { openOverConnections, type PubSubDeps } from "./over-connections.ts";
import { type PubSub, PubSubError } from "./pub-sub.ts";

/**
 * Opens what the URL's scheme names: `redis://…` and its like, `postgres://…` (LISTEN and NOTIFY, which a pooler in
 * front of Postgres cannot do by transactions: give it the server's own address), or `memory:` (this process; several
 * that are open share their channels). Only that adapter's driver is loaded. Does not wait for the server; rejects
 * with `misuse` for a URL that it does not understand.
 */
export async function openPubSub(url: string, deps: PubSubDeps): Promise<PubSub> {
  const scheme = /^([a-z+]+):/.exec(url)?.[1] ?? "";
  switch (scheme) {
    case "redis":
    case "rediss":
    case "redis+sentinel":
    case "rediss+sentinel": {
      const { connectRedis } = await import("./redis/connect.ts");
      return openOverConnections(connectRedis(url), deps);
    }
    case "postgres":
    case "postgresql": {
      // What is given is not shown: there may be a password in it.
      if (!URL.canParse(url)) throw new PubSubError("misuse", `messages go by a URL; "${scheme}:…" is none`);
      const { connectPostgres } = await import("./postgres/connect.ts");
      return openOverConnections(connectPostgres(url), deps);
    }
    case "memory": {
      const { connectMemory } = await import("./memory/connect.ts");
      return openOverConnections(connectMemory(), deps);
    }
    default:
      throw new PubSubError("misuse", `messages go by redis://, postgres:// or memory:, not by "${scheme}:"`);
  }
}
