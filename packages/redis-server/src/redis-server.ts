import { isIP } from "node:net";

import { explainTls } from "@sluice/service/tls-settings.ts";

import { explainHello, helloOf, type Sends } from "./hello.ts";
import { findPrimary } from "./sentinels.ts";
import { type Host, parseRedisUrl, type RedisUrl } from "./url.ts";

/** The Redis that a URL names: one server, or whichever of a set its sentinels call the primary. */
export interface RedisServer {
  /** Hosts and ports, for messages. */
  readonly address: string;
  /** What the URL says behind the `?` that is not about the connection. */
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * What the driver's `createClient` takes to connect now: spread it first. Asks the sentinels, where there are some, and
   * rejects when none of them names a primary. The driver is not to connect again by itself: the next one may be another.
   */
  locate(connectMs: number): Promise<RedisOptions>;
  /** Rejects when what has answered is not what the URL means: a cluster, a sentinel, or a replica in place of a primary. */
  check(connected: Sends): Promise<void>;
  /** What went wrong in words, with the setting to mend where there is one. Never a password. */
  explain(error: unknown): string;
}

export interface RedisOptions {
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  readonly disableOfflineQueue: true;
  readonly socket: {
    readonly host: string;
    readonly port: number;
    readonly connectTimeout: number;
    readonly reconnectStrategy: false;
    readonly keepAlive: true;
  };
}

/** That there can never be a connection, as the URL or the server is. Its message is fit for an operator. */
export { RedisUrlError } from "./url.ts";

/**
 * Reads the URL and the files that it names; does not connect. `setting` is the variable that holds it, for messages.
 * Throws a RedisUrlError.
 *
 * `redis://user:password@host:6379/0` and, with TLS, `rediss://…?ca=path&cert=path&key=path`; for a set with sentinels
 * `redis+sentinel://user:password@host:26379,host:26379/name/0?sentinelUser=…&sentinelPassword=…`, or `rediss+sentinel`.
 */
export function redisServer(url: string, setting: string): RedisServer {
  const parsed = parseRedisUrl(url, setting);
  const { address, parameters, sentinel } = parsed;
  function explain(error: unknown): string {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = explainTls(error, setting) ?? explainRefusal(reason, setting);
    return advice === undefined || reason.includes(advice) ? reason : `${reason}: ${advice}`;
  }
  return {
    address,
    parameters,
    async locate(connectMs) {
      try {
        const host = sentinel === undefined ? parsed.hosts[0] : await primary(parsed, sentinel.name);
        return optionsOf(parsed, host, connectMs);
      } catch (error) {
        throw new Error(explain(error), { cause: error });
      }
    },
    async check(connected) {
      const hello = await helloOf(connected);
      const problem = explainHello(hello, sentinel !== undefined, setting);
      if (problem !== undefined) throw problem;
    },
    explain,
  };
}

async function primary(parsed: RedisUrl, name: string): Promise<Host> {
  const login = { username: parsed.sentinel?.username, password: parsed.sentinel?.password };
  return await findPrimary(name, parsed.hosts, (host, connectMs) =>
    optionsOf({ ...parsed, ...login, database: 0 }, host, connectMs),
  );
}

function optionsOf(
  { username, password, database, tls }: Pick<RedisUrl, "username" | "password" | "database" | "tls">,
  { host, port }: Host,
  connectMs: number,
): RedisOptions {
  const secure = { tls: true as const, ...tls, ...(isIP(host) === 0 && { servername: host }) };
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    disableOfflineQueue: true,
    socket: {
      host,
      port,
      connectTimeout: connectMs,
      reconnectStrategy: false,
      keepAlive: true,
      ...(tls !== undefined && secure),
    },
  };
}

function explainRefusal(reason: string, setting: string): string | undefined {
  if (/(^|[:;] )(WRONGPASS|NOAUTH)/.test(reason))
    return `mend user and password in ${setting}, for sentinels sentinelUser and sentinelPassword`;
  if (/(^|[:;] )NOPERM/.test(reason)) return `give the user in ${setting} the right to that`;
  return undefined;
}
