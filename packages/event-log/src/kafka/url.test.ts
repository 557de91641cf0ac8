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

it("a user and a password are shown by the mechanism that is named, and may be of any characters", () => {
  expect(parseKafkaUrl("kafka://me:p%40ss%3Aword@a:9092,b:9092?sasl=scram-sha-512")).toMatchObject({
    address: "a:9092,b:9092",
    sasl: { mechanism: "scram-sha-512", username: "me", password: "p@ss:word" },
    tls: undefined,
  });
  expect(parseKafkaUrl("kafka://a:9092?tls=on&rack=eu-1a")).toMatchObject({ tls: {}, rack: "eu-1a" });
});

it.each([
  ["kafka:", "kafka://host:9092"],
  ["kafka://", "kafka://host:9092"],
  ["kafka://localhost", "localhost"],
  ["kafka://localhost:0", "localhost:0"],
  ["kafka://localhost:99999", "localhost:99999"],
  ["kafka://a:9092,,b:9092", "a:9092,,b:9092"],
  ["kafka://user:secret@host:9092", "sasl takes plain, scram-sha-256, scram-sha-512"],
  ["kafka://user:secret@host:9092?sasl=gssapi", "sasl"],
  ["kafka://user:sec%ret@host:9092?sasl=plain", "%25"],
  ["kafka://user@host:9092?sasl=plain", "user:password@"],
  ["kafka://host:9092?sasl=plain", "user:password@"],
  ["kafka://user:secret@te@host:9092?sasl=plain", "kafka://host:9092"],
  ["kafka://a:9092?tls=yes", "tls"],
  ["kafka://a:9092?ca=/ca.pem", "tls=on"],
  ["kafka://a:9092?tls=on&cert=/cert.pem", "cert and key go together"],
  ["kafka://a:9092?tls=on&ca=/no/such/ca.pem", 'ca takes the path of a readable file, got "/no/such/ca.pem"'],
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
