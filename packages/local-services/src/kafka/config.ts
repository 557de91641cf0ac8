import { fileURLToPath } from "node:url";

export const kafkaVersion = "4.3.1";

/** Where the broker's jars are, or will be put: 55 MB that are worth keeping between checkouts. */
export const kafkaHome =
  process.env["KAFKA_HOME_DIR"] ||
  fileURLToPath(new URL(`../../../../.cache/kafka-${kafkaVersion}`, import.meta.url));
