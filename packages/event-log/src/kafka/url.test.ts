import { expect, it } from "vitest";
import { EventLogError } from "../event-log.ts";
import { parseKafkaUrl } from "./url.ts";

it("a URL names the brokers, and may name the client and the number of partitions", () => {
  expect(parseKafkaUrl("kafka://127.0.0.1:9092")).toMatchObject({
    brokers: ["127.0.0.1:9092"],
    clientId: "sluice",
    partitions: undefined,
    compression: "zstd",
  });
  expect(
    parseKafkaUrl("kafka://a.example:9092,b-2:9093/?clientId=edge&partitions=12&compression=none"),
  ).toMatchObject({
    address: "a.example:9092,b-2:9093",
    brokers: ["a.example:9092", "b-2:9093"],
    clientId: "edge",
    partitions: 12,
    compression: "none",
  });
});

it.each([
  ["kafka:", "kafka://host:9092"],
  ["kafka://", "kafka://host:9092"],
  ["kafka://localhost", "localhost"],
  ["kafka://localhost:0", "localhost:0"],
  ["kafka://localhost:99999", "localhost:99999"],
  ["kafka://a:9092,,b:9092", "a:9092,,b:9092"],
  ["kafka://user:secret@host:9092", "kafka://host:9092"],
  ["kafka://a:9092/clicks", "kafka://host:9092"],
  ["kafka://a:9092?partitions=none", "partitions"],
  ["kafka://a:9092?partitions=0", "partitions"],
  ["kafka://a:9092?compression=lz4", "compression"],
  ["kafka://a:9092?acks=1", "acks"],
])("%s is misuse, and the message says what is wrong", (url, part) => {
  expect(() => parseKafkaUrl(url)).toThrow(EventLogError);
  expect(() => parseKafkaUrl(url)).toThrow(part);
  expect(() => parseKafkaUrl(url)).not.toThrow("secret");
});
