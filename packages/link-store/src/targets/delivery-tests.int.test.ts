import { describeWith } from "@sluice/testkit/describe-with.ts";
import { silentLog } from "@sluice/service/log.ts";
import { expect, test } from "vitest";
import { openDeliveryStore } from "../deliveries/open-deliveries.ts";
import { openTargetWorld } from "../testing/target-world.ts";
import type { ClaimedTest } from "./target-store.ts";

const now = 1_790_000_000_000;
const leaseUntil = now + 30_000;
const url = "https://hooks.example/";
const ok = { ok: true, code: "", status: 204, detail: "" };

describeWith("test deliveries", openTargetWorld, (world) => {
  const create = () => world().targets.create(1, { kind: "webhook", url }, now);

  async function claimOne(at = now): Promise<ClaimedTest> {
    const [claimed] = await world().targets.claimTests({ now: at, leaseUntil: at + 30_000, limit: 10 });
    if (claimed === undefined) throw new Error("no test");
    return claimed;
  }

  test("one that succeeds verifies its target, and its outcome is there to see", async () => {
    const { targets } = world();
    const { id } = await create();
    const testId = await targets.requestTest(id, { enable: false, now });
    expect(await targets.testResult(testId)).toBeUndefined();
    const claimed = await claimOne();
    expect(claimed.target).toEqual(await targets.show(id, now));
    expect(await targets.claimTests({ now, leaseUntil, limit: 10 })).toEqual([]);
    await targets.finishTest(claimed, { ...ok, detail: `\0${"é".repeat(2_000)}` }, now);
    const result = await targets.testResult(testId);
    expect(result).toMatchObject({ ok: true, code: "", status: 204 });
    expect(Buffer.byteLength(result?.detail ?? "")).toBeLessThanOrEqual(1_024);
    expect(await targets.show(id, now)).toMatchObject({ verified: true });
  });

  test("one that fails, or that was for a URL changed meanwhile, verifies nothing", async () => {
    const { targets } = world();
    const { id } = await create();
    const failed = await targets.requestTest(id, { enable: true, now });
    const outcome = { ok: false, code: "timeout", status: 0, detail: "no answer in 15 s" };
    await targets.finishTest(await claimOne(), outcome, now);
    expect(await targets.testResult(failed)).toEqual(outcome);
    expect(await targets.show(id, now)).toMatchObject({ verified: false });
    const late = await targets.requestTest(id, { enable: false, now });
    const claimed = await claimOne();
    await targets.edit(id, { url: `${url}new` }, now);
    await targets.finishTest(claimed, ok, now);
    expect(await targets.testResult(late)).toEqual(ok);
    expect(await targets.show(id, now)).toMatchObject({ verified: false });
  });

  test("enabling again takes a test that succeeds, and forgets failures and pauses of before", async () => {
    const { targets, url: postgres } = world();
    await using deliveries = openDeliveryStore(postgres, { log: silentLog });
    const { id } = await create();
    await deliveries.failing(id, now - 5);
    await deliveries.pause(id, now + 10_000, "breaker");
    await targets.disable(id, "410", now);
    await targets.requestTest(id, { enable: false, now });
    await targets.finishTest(await claimOne(), ok, now);
    expect(await targets.show(id, now)).toMatchObject({ verified: true, disabled: { reason: "410" } });
    expect(await deliveries.failing(id, now)).toBe(now - 5);
    await targets.requestTest(id, { enable: true, now });
    await targets.finishTest(await claimOne(), ok, now);
    expect(await targets.show(id, now)).toMatchObject({ verified: true, disabled: undefined });
    expect(await deliveries.failing(id, now)).toBe(now);
    expect((await deliveries.pauses(now)).has(id)).toBe(false);
  });

  test("one whose dispatcher died is another's when its lease is over; the first one's word comes too late", async () => {
    const { targets } = world();
    const { id } = await create();
    const testId = await targets.requestTest(id, { enable: false, now });
    const first = await claimOne();
    const second = await claimOne(leaseUntil);
    await targets.finishTest(first, ok, leaseUntil);
    expect(await targets.testResult(testId)).toBeUndefined();
    const outcome = { ok: false, code: "timeout", status: 0, detail: "" };
    await targets.finishTest(second, outcome, leaseUntil);
    await targets.finishTest(second, ok, leaseUntil);
    expect(await targets.testResult(testId)).toEqual(outcome);
    expect(await targets.show(id, now)).toMatchObject({ verified: false });
  });

  test("one that nobody took for five minutes is not carried out, nor one of a target that was deleted", async () => {
    const { targets } = world();
    const { id } = await create();
    await targets.requestTest(id, { enable: false, now: now - 300_000 });
    expect(await targets.claimTests({ now, leaseUntil, limit: 10 })).toEqual([]);
    const testId = await targets.requestTest(id, { enable: false, now });
    await targets.delete(id);
    expect(await targets.claimTests({ now, leaseUntil, limit: 10 })).toEqual([]);
    expect(await targets.testResult(testId)).toMatchObject({ ok: false, code: "unreadable" });
    await expect(targets.requestTest(id, { enable: false, now })).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("integrations and pixels are tested as well, and it can be told that no dispatcher runs", async () => {
    const { targets, url: postgres } = world();
    await using deliveries = openDeliveryStore(postgres, { log: silentLog });
    expect(await targets.dispatchersAlive(now)).toBe(0);
    await deliveries.beat("one", now);
    expect(await targets.dispatchersAlive(now)).toBe(1);
    const made = [
      await targets.create(1, { kind: "ga4", settings: {} }, now),
      await targets.create(1, { kind: "pixel", url: "https://p.example/{ts}" }, now),
    ];
    for (const { id } of made) await targets.requestTest(id, { enable: false, now });
    for (const claimed of await targets.claimTests({ now, leaseUntil, limit: 10 })) {
      await targets.finishTest(claimed, ok, now);
    }
    for (const { id } of made) expect(await targets.show(id, now)).toMatchObject({ verified: true });
  });
});
