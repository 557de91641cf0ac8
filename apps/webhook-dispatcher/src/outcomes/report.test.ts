import type { Attempt } from "@sluice/click-store/attempts.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { expect, test } from "vitest";
import type { Delivery } from "../delivery.ts";
import type { Outcome } from "../lanes/lanes.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { outcomeMetrics } from "./metrics.ts";
import { createReport } from "./report.ts";

const delivery: Delivery = {
  target: "ep_1",
  event: { id: "a", type: "link.clicked", workspaceId: 1, ts: 1, body: "{}" },
  made: 1,
  replayed: false,
};
const attempt = { startedAt: 5, durationMs: 7, status: 500, response: "" };
const failed: Outcome = {
  kind: "retry",
  made: 2,
  dueAt: 9,
  code: "server-error",
  detail: "HTTP 500",
  attempt,
};

function setUp(failedForTooLong = false) {
  const logged: Attempt[] = [];
  const disabled: string[] = [];
  const judged: string[] = [];
  const report = createReport({
    metrics: outcomeMetrics(createMetrics()),
    logAttempt: (each) => void logged.push(each),
    standing: {
      async failed() {
        judged.push("failed");
        return failedForTooLong;
      },
      async succeeded() {
        judged.push("succeeded");
      },
    },
    async disable(target) {
      disabled.push(target);
      throw new LinkStoreError("unavailable", "away");
    },
  });
  return { report, logged, disabled, judged };
}

test("each attempt that was made is logged, with what the customer may know of it", () => {
  const { report, logged } = setUp();
  report(delivery, failed);
  report(delivery, { kind: "delivered", made: 2, attempt: { ...attempt, status: 200, response: "thanks" } });
  report(delivery, { kind: "skipped", reason: "too-old" });
  report(delivery, { kind: "unknown", made: 1, code: "already-sent" });
  expect(
    logged.map(({ outcome, code, number, nextAt, response }) => [outcome, code, number, nextAt, response]),
  ).toEqual([
    ["failed", "server-error", 2, 9, "HTTP 500"],
    ["delivered", "", 2, 0, "thanks"],
    ["skipped", "too-old", 2, 0, ""],
  ]);
});

test("one that has failed for too long is disabled, and a Postgres that is away then ends nothing", async () => {
  const { report, disabled } = setUp(true);
  report(delivery, failed);
  await expect.poll(() => disabled).toEqual(["ep_1"]);
});

test("what was refused says nothing against a target, nor what was never sent", () => {
  const { report, judged } = setUp();
  report(delivery, { kind: "dead", refused: true, made: 1, code: "refused", attempt });
  report(delivery, { kind: "skipped", reason: "bot" });
  expect(judged).toEqual([]);
});
