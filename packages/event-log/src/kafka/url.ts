import { readTls, type TlsOptions } from "@sluice/service/tls-settings.ts";
import { z } from "zod";
import { EventLogError } from "../event-log.ts";

/** `kafka://user:password@host:port,host:port?…`: the brokers to begin with; the cluster names the others. */
const shape = /^kafka:\/\/(?:([^/?#@]*)@)?([^/?#@]+)\/?(?:\?([^#]*))?$/;
const address = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})$/;

const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"] as const;

const Parameters = z.strictObject({
  /** The name that the broker's logs and quotas know this client by. */
  clientId: z.string().min(1).max(200).default("sluice"),
  /** How many partitions a topic must have. Without it any number will do. */
  partitions: z.coerce.number().int().min(1).max(10_000).optional(),
  /** Of what is appended; what is read may have either. */
  compression: z.literal(["zstd", "none"]).default("zstd"),
  /** How user and password are shown to the brokers. */
  sasl: z.enum(mechanisms).optional(),
  tls: z.enum(["on", "off"]).default("off"),
  ca: z.string().min(1).optional(),
  cert: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
  /** Where we are, in the brokers' words: what is read comes from a replica there, where they are set to allow it. */
  rack: z.string().min(1).max(200).optional(),
});

export interface KafkaSettings {
  /** The address list as given, for messages. */
  readonly address: string;
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly partitions: number | undefined;
  readonly compression: "zstd" | "none";
  readonly sasl: KafkaLogin | undefined;
  /** Undefined for connections without TLS. */
  readonly tls: TlsOptions | undefined;
  readonly rack: string | undefined;
}

export interface KafkaLogin {
  readonly mechanism: (typeof mechanisms)[number];
  readonly username: string;
  readonly password: string;
}

/**
 * Throws `misuse`, naming what is wrong, what would be right, and what was given but for a password. Reads the files that
 * TLS needs.
 */
export function parseKafkaUrl(url: string): KafkaSettings {
  const [, login, addresses = "", query = ""] = shape.exec(url) ?? [];
  const brokers = addresses.split(",");
  for (const broker of brokers) {
    const port = Number(address.exec(broker)?.[1] ?? 0);
    if (port < 1 || port > 65_535) {
      // What a password is made of may be anything, up to the last `@`.
      const given = url.replace(/\/\/.*@/, "//…@");
      throw misuse(`takes a URL like kafka://host:9092,host:9092, got "${given}"`);
    }
  }
  const parsed = Parameters.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "parameters"}: ${message}`,
    );
    throw misuse(`${problems.join("; ")}, got "?${query}"`);
  }
  const { clientId, partitions, compression, rack } = parsed.data;
  return {
    address: addresses,
    brokers: brokers.map((broker) => broker.replace(/[[\]]/g, "")),
    clientId,
    partitions,
    compression,
    sasl: loginOf(login, parsed.data.sasl),
    tls: tlsOf(parsed.data),
    rack,
  };
}

function loginOf(given: string | undefined, mechanism: KafkaLogin["mechanism"] | undefined) {
  const wanted = `sasl takes ${mechanisms.join(", ")}, and goes together with user:password@ before the hosts`;
  if (given === undefined && mechanism === undefined) return undefined;
  const [, user = "", secret = ""] = /^([^:]+):(.+)$/.exec(given ?? "") ?? [];
  if (mechanism === undefined || user === "") {
    throw misuse(`${wanted}; got ${mechanism ?? "no sasl"} and ${user === "" ? "no user" : "a user"}`);
  }
  try {
    return { mechanism, username: decodeURIComponent(user), password: decodeURIComponent(secret) };
  } catch {
    throw misuse("user and password take %25 for a %, as every URL does; got one that cannot be decoded");
  }
}

function tlsOf({ tls, ca, cert, key }: z.output<typeof Parameters>): TlsOptions | undefined {
  if (tls === "off") {
    if (ca === undefined && cert === undefined && key === undefined) return undefined;
    throw misuse("ca, cert and key take tls=on beside them, got tls=off");
  }
  try {
    return readTls({ ca, cert, key });
  } catch (error) {
    throw misuse(error instanceof Error ? error.message : String(error), error);
  }
}

function misuse(what: string, cause?: unknown): EventLogError {
  return new EventLogError("misuse", `kafka: ${what}`, { cause });
}
