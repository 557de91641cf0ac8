import { z } from "zod";
import { EventLogError } from "../event-log.ts";

/** `kafka://host:port,host:port?…`: the brokers to begin with; the cluster names the others. */
const shape = /^kafka:\/\/([^/?#]+)\/?(?:\?([^#]*))?$/;
const address = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})$/;

const Parameters = z.strictObject({
  /** The name that the broker's logs and quotas know this client by. */
  clientId: z.string().min(1).max(200).default("sluice"),
  /** How many partitions a topic must have. Without it any number will do. */
  partitions: z.coerce.number().int().min(1).max(10_000).optional(),
  /** Of what is appended; what is read may have either. */
  compression: z.literal(["zstd", "none"]).default("zstd"),
});

export interface KafkaSettings {
  /** The address list as given, for messages. */
  readonly address: string;
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly partitions: number | undefined;
  readonly compression: "zstd" | "none";
}

/** Throws `misuse`, naming what is wrong, what would be right, and what was given. */
export function parseKafkaUrl(url: string): KafkaSettings {
  const [, addresses = "", query = ""] = shape.exec(url) ?? [];
  const brokers = addresses.split(",");
  for (const broker of brokers) {
    const port = Number(address.exec(broker)?.[1] ?? 0);
    if (port < 1 || port > 65_535) {
      // Where there are credentials by mistake, they are not for the log.
      const given = url.replace(/[^/,]*@/g, "…@");
      throw new EventLogError(
        "misuse",
        `kafka: takes a URL like kafka://host:9092,host:9092, got "${given}"`,
      );
    }
  }
  const parsed = Parameters.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "parameters"}: ${message}`,
    );
    throw new EventLogError("misuse", `kafka: ${problems.join("; ")}, got "?${query}"`);
  }
  const { clientId, partitions, compression } = parsed.data;
  return {
    address: addresses,
    brokers: brokers.map((broker) => broker.replace(/[[\]]/g, "")),
    clientId,
    partitions,
    compression,
  };
}
