import { readTls, type TlsOptions } from "@sluice/service/tls-settings.ts";

/** A person has to mend the URL, or what it points at. */
export class RedisUrlError extends Error {
  override readonly name = "RedisUrlError";
}

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface RedisUrl {
  /** Of the server, or of the sentinels; never empty. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly address: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  /** Undefined for connections without TLS. */
  readonly tls: TlsOptions | undefined;
  /** Where sentinels are asked: the name that they have for the set, and their own login. */
  readonly sentinel: Sentinel | undefined;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Sentinel {
  readonly name: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
}

const shape = /^(rediss?)(\+sentinel)?:\/\/(?:([^/?#]*)@)?([^/?#@]+)((?:\/[^?#]*)?)(?:\?([^#]*))?$/;
const hostShape = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/;
const one = "redis://host:6379/0";
const set = "redis+sentinel://host:26379,host:26379/name";

/** Throws a RedisUrlError that says what `setting` takes and what it got, but for passwords. Reads the files of TLS. */
export function parseRedisUrl(url: string, setting: string): RedisUrl {
  const refuse = (problem: string): RedisUrlError => new RedisUrlError(`redis: ${setting} ${problem}`);
  const got = `got "${url.replace(/\/\/.*@/, "//…@").replace(/(password=)[^&#]*/gi, "$1…")}"`;
  if (/^rediss?[+-]cluster:/.test(url)) throw refuse(noCluster);
  const parts = shape.exec(url);
  if (parts === null) throw refuse(`takes a URL like ${one} or ${set}, ${got}`);
  const [, scheme, sentinels, login, list = "", path = "", query] = parts;
  const isSet = sentinels !== undefined;
  const [first, ...more] = list.split(",").map((text) => hostOf(text, isSet ? 26_379 : 6379));
  if (first === undefined || more.includes(undefined)) throw refuse(`takes hosts like host:6379, ${got}`);
  if (!isSet && more.length > 0) throw refuse(`takes several hosts only as ${set}; ${noCluster}`);
  const place = (isSet ? /^\/([A-Za-z0-9._-]+)(?:\/(\d{0,5}))?$/ : /^()(?:\/(\d{0,5}))?$/).exec(path);
  if (place === null) throw refuse(`takes a URL like ${isSet ? set : one}, ${got}`);
  const { ca, cert, key, sentinelUser, sentinelPassword, ...parameters } = Object.fromEntries(
    new URLSearchParams(query),
  );
  const files = { ca, cert, key };
  if (scheme === "redis" && (ca ?? cert ?? key) !== undefined)
    throw refuse(`takes ca, cert and key only with rediss, ${got}`);
  return {
    hosts: [first, ...more.filter((host) => host !== undefined)],
    address: list,
    ...loginOf(login, refuse),
    database: Number(place[2] ?? 0),
    tls: scheme === "rediss" ? tlsOf(files, refuse) : undefined,
    sentinel: isSet
      ? { name: place[1] ?? "", username: sentinelUser, password: sentinelPassword }
      : undefined,
    parameters,
  };
}

/** Said of URLs here, and of servers in `hello.ts`. */
export const noCluster =
  "takes no Redis Cluster, which is not supported: name one server, or a set with sentinels";

function hostOf(text: string, usualPort: number): Host | undefined {
  const [, host, port = String(usualPort)] = hostShape.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

function loginOf(login: string | undefined, refuse: (problem: string) => RedisUrlError) {
  const [username, password] = /^([^:]*)(?::(.*))?$/.exec(login ?? "")?.slice(1) ?? [];
  try {
    return {
      username: username === undefined || username === "" ? undefined : decodeURIComponent(username),
      password: password === undefined ? undefined : decodeURIComponent(password),
    };
  } catch {
    throw refuse("takes %25 for a % in user and password, got one that cannot be decoded");
  }
}

function tlsOf(files: Parameters<typeof readTls>[0], refuse: (problem: string) => RedisUrlError): TlsOptions {
  try {
    return readTls(files);
  } catch (error) {
    throw refuse(`cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}
