import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { openDeliveryWorld, parkedMany, t0 } from "../testing/delivery-world.ts";
import { sql } from "../testing/raw-postgres.ts";

describeWith("how things stand with targets", openDeliveryWorld, (world) => {
  test("is said of one, and of all that have anything waiting or wrong, also of a disabled one", async () => {
    const { store, endpoint, url } = world();
    const [calm, busy, wrong] = [await endpoint(), await endpoint(), await endpoint(2)];
    await store.park(parkedMany(busy, 3), t0);
    await store.pause(wrong, t0 + 9, "slow-down");
    await store.failing(wrong, t0 - 5);
    await sql(url, `UPDATE webhook_endpoints SET disabled_at = now() WHERE id = ${busy.slice(3)}`);
    const nothing = {
      parked: 0,
      dead: 0,
      oldestDueAt: undefined,
      pausedUntil: undefined,
      pauseReason: "",
      failingSince: undefined,
    };
    const first = { ...nothing, target: busy, workspaceId: 1, parked: 3, oldestDueAt: t0 };
    expect(await store.standings({ limit: 10 })).toEqual([
      first,
      {
        ...nothing,
        target: wrong,
        workspaceId: 2,
        pausedUntil: t0 + 9,
        pauseReason: "slow-down",
        failingSince: t0 - 5,
      },
    ]);
    expect(await store.standings({ workspaceId: 1, limit: 10 })).toEqual([first]);
    expect(await store.standings({ limit: 1 })).toEqual([first]);
    expect(await store.standings({ target: calm, limit: 1 })).toEqual([
      { ...nothing, target: calm, workspaceId: 1 },
    ]);
  });
});
