import { assert, integer, property, string } from "fast-check";
import kafkajs from "kafkajs";
import { expect, it } from "vitest";
import { partitionOf } from "./partition.ts";

it("a key goes to the partition that Kafka's other clients choose", () => {
  const theirs = kafkajs.Partitioners.DefaultPartitioner();
  assert(
    property(string({ unit: "binary" }), integer({ min: 1, max: 64 }), (key, partitions) => {
      const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
        partitionErrorCode: 0,
        partitionId,
        leader: 0,
        replicas: [],
        isr: [],
      }));
      const expected = theirs({ topic: "clicks", partitionMetadata, message: { key, value: null } });
      expect(partitionOf(key, partitions)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});
