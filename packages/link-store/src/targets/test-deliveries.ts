import { randomUUID } from "node:crypto";
import { aliveMs } from "../deliveries/retention.ts";
import type { Query } from "../postgres.ts";
import * as tests from "../queries/delivery-tests.ts";
import { countDispatchers } from "../queries/dispatchers.ts";
import { findTarget, finishTest } from "../queries/targets.ts";
import { storableText } from "../storable-text.ts";
import { parse, type TargetReader } from "./read-targets.ts";
import type { ClaimedTest, TargetStore } from "./target-store.ts";

/** Who asked for a test has gone away by then. */
const testMs = 5 * 60_000;
const maxDetailBytes = 1_024;

type TestStore = Pick<
  TargetStore,
  "requestTest" | "testResult" | "claimTests" | "finishTest" | "dispatchersAlive"
>;

export function testStore(query: Query, reader: TargetReader): TestStore {
  return {
    async requestTest(id, options) {
      await reader.row(id);
      return tests.insertTest(query, id, options);
    },
    testResult: (testId) => tests.findTestResult(query, testId),
    async claimTests({ now, leaseUntil, limit }) {
      const lease = randomUUID();
      const claim = { now, leaseUntil, limit, lease, requestedAfter: now - testMs };
      const claimed: ClaimedTest[] = [];
      for (const { id, target: targetId } of await tests.claimOpenTests(query, claim)) {
        const { prefix, id: number } = parse(targetId);
        const row = await findTarget(query, prefix, number);
        const [target] = row === undefined ? [] : reader.readable([row], now);
        if (target === undefined) {
          const detail = "it was deleted, or its secrets cannot be decrypted";
          const outcome = { ok: false, code: "unreadable", status: 0, detail };
          await finishTest(query, { ...outcome, id, lease, prefix, targetId: number, url: "", now });
        } else claimed.push({ id, lease, target });
      }
      return claimed;
    },
    async finishTest({ id, lease, target }, outcome, now) {
      const { prefix, id: targetId } = parse(target.id);
      const detail = storableText(outcome.detail, maxDetailBytes);
      await finishTest(query, { ...outcome, detail, id, lease, prefix, targetId, url: target.url, now });
    },
    dispatchersAlive: (now) => countDispatchers(query, now - aliveMs),
  };
}
