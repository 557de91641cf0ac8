import { expect, it } from "vitest";
import { adviseOn } from "./topic-settings.ts";

/** As `sluice setup` makes a topic on three brokers. */
const good = {
  "cleanup.policy": "delete",
  "retention.ms": "259200000",
  "retention.bytes": "-1",
  "min.insync.replicas": "2",
  "unclean.leader.election.enable": "false",
};

function advised(values: Record<string, string>, replicas = 3, brokers = 3) {
  const settings = { values: new Map(Object.entries({ ...good, ...values })), replicas, brokers };
  return adviseOn(settings).map(({ setting, takes, got }) => `${setting} takes ${takes}, got ${got}`);
}

it("of a topic that keeps what it has acknowledged nothing is said", () => {
  expect(advised({})).toEqual([]);
  expect(advised({ "retention.ms": "-1" })).toEqual([]);
  expect(advised({ "min.insync.replicas": "1" }, 1, 1)).toEqual([]);
  expect(advised({ "min.insync.replicas": "3" }, 5, 5)).toEqual([]);
  // What the brokers do not tell is not judged.
  expect(adviseOn({ values: new Map(), replicas: 3, brokers: 3 })).toEqual([]);
});

it.each([
  [{ "cleanup.policy": "compact" }, "cleanup.policy takes delete, got compact"],
  [{ "cleanup.policy": "compact,delete" }, "cleanup.policy takes delete, got compact,delete"],
  [{ "retention.ms": "86400000" }, "retention.ms takes 259200000 or more, or -1, got 86400000"],
  [{ "retention.bytes": "1073741824" }, "retention.bytes takes -1, got 1073741824"],
  [{ "min.insync.replicas": "1" }, "min.insync.replicas takes 2, got 1"],
  [{ "min.insync.replicas": "3" }, "min.insync.replicas takes 2, got 3"],
  [{ "unclean.leader.election.enable": "true" }, "unclean.leader.election.enable takes false, got true"],
  [{ "write.caching": "true" }, "write.caching takes false, got true"],
])("of %o it is said what to change, and to what", (values, said) => {
  expect(advised(values)).toEqual([said]);
});

it("as many copies are asked for as the cluster has room for, three at most", () => {
  expect(advised({ "min.insync.replicas": "1" }, 1, 1)).toEqual([]);
  expect(advised({ "min.insync.replicas": "1" }, 1, 2)).toEqual(["replication factor takes 2, got 1"]);
  expect(advised({ "min.insync.replicas": "1" }, 2, 3)).toEqual(["replication factor takes 3, got 2"]);
  // One copy, and two that must have it: nothing can be written.
  expect(advised({}, 1, 1)).toEqual(["min.insync.replicas takes 1, got 2"]);
});
