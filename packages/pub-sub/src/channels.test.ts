import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { connectMemory } from "./memory/connect.ts";
import { openOverConnections } from "./over-connections.ts";

test("a channel that is subscribed to at whatever moment of connecting is heard", async () => {
  for (let turns = 0; turns < 30; turns += 1) {
    await using pubSub = openOverConnections(connectMemory(new Map()), {
      log: silentLog,
      metrics: createMetrics(),
    });
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const signal = AbortSignal.timeout(2_000);
    let isHeard = false;
    for await (const { kind } of pubSub.subscribe("a", { signal })) {
      isHeard = kind === "message";
      if (isHeard) break;
      await pubSub.publish("a", "x");
    }
    expect({ turns, isHeard }).toEqual({ turns, isHeard: true });
  }
});
