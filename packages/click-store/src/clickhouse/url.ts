import { ServiceError } from "@sluice/service/service-error.ts";
import { readTls, type TlsOptions } from "@sluice/service/tls-settings.ts";

export interface ClickHouseUrl {
  /** For the driver: with credentials, without our parameters. */
  readonly address: string;
  readonly codec: "gzip" | "zstd" | undefined;
  readonly tls: TlsOptions | undefined;
  /** The name of the cluster whose replicas have the tables. Undefined for a server that is alone. */
  readonly cluster: string | undefined;
  /** How many of them must have an insert before it is acknowledged, `auto` for more than half. */
  readonly quorum: string | undefined;
}

/**
 * Reads `http://user:pass@host:8123/database?…` and the files that it names. Throws a ServiceError `config` that says what
 * the URL takes; never what it holds, where there may be a password.
 */
export function parseClickHouseUrl(url: string): ClickHouseUrl {
  if (!URL.canParse(url)) throw refusal("is not a URL");
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
    throw refusal(`begins with http:// or https://, not with ${parsed.protocol}//`);
  const take = (name: string): string | undefined => {
    const value = parsed.searchParams.get(name) ?? undefined;
    parsed.searchParams.delete(name);
    return value;
  };
  const codec = take("compression") ?? "none";
  if (codec !== "none" && codec !== "gzip" && codec !== "zstd")
    throw refusal(`takes none, gzip or zstd for compression, not ${codec}`);
  const files = { ca: take("ca"), cert: take("cert"), key: take("key") };
  const hasFiles = (files.ca ?? files.cert ?? files.key) !== undefined;
  if (hasFiles && parsed.protocol === "http:") throw refusal("takes ca, cert and key only with https://");
  if (files.cert !== undefined && files.ca === undefined) throw refusal("takes ca beside cert and key");
  const cluster = take("cluster");
  if (cluster !== undefined && !/^[\w.-]{1,100}$/.test(cluster))
    throw refusal(`takes the name of a cluster, of letters, digits, _, . and -, not ${cluster}`);
  const quorum = take("insertQuorum");
  if (quorum !== undefined && (cluster === undefined || !/^(auto|[2-9])$/.test(quorum)))
    throw refusal(`takes insertQuorum as auto or 2 to 9, beside cluster, not ${quorum}`);
  return {
    address: parsed.href,
    codec: codec === "none" ? undefined : codec,
    tls: hasFiles ? tlsOf(files) : undefined,
    cluster,
    quorum: cluster === undefined ? undefined : (quorum ?? "auto"),
  };
}

function tlsOf(files: Parameters<typeof readTls>[0]): TlsOptions {
  try {
    return readTls(files);
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

function refusal(problem: string): ServiceError {
  return new ServiceError("config", `CLICK_STORE_URL, the click store's URL, ${problem}`);
}
