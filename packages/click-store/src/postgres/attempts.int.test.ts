import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";
import { never } from "../contract/trial.ts";
import { sampleAttempt } from "../testing/attempts.ts";
import { openPostgresAttemptLog } from "./attempts.ts";
import { sql } from "./testing/sql.ts";
import { openWorld } from "./testing/world.ts";

const dayMs = 86_400_000;

describeWith("the delivery log on Postgres", openWorld, (world) => {
  const days = async () =>
    (
      await sql(
        world().url,
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass ORDER BY 1",
      )
    )
      .flat()
      .map((name) => name.slice("webhook_attempts_".length));

  it("keeps seven days, drops what is older by the day, and has the coming one ready", async () => {
    await using log = openPostgresAttemptLog(world().url, silentLog);
    const now = Date.UTC(2026, 11, 10, 12);
    for (const daysAgo of [9, 8, 7, 1])
      await log.write([sampleAttempt({ ts: now - daysAgo * dayMs })], never);
    // Made by hand, and nobody's to drop.
    await sql(world().url, "CREATE TABLE a_first_one (LIKE webhook_attempts)");
    await sql(
      world().url,
      "ALTER TABLE webhook_attempts ATTACH PARTITION a_first_one FOR VALUES FROM ('2001-01-01') TO ('2001-01-02')",
    );
    await Promise.all([log.keep(now, never), log.keep(now, never)]);
    await sql(world().url, "DROP TABLE a_first_one");
    const left = await days();
    expect(left).toEqual(expect.arrayContaining(["2026_12_03", "2026_12_09", "2026_12_10"]));
    expect(left).not.toContain("2026_12_01");
    expect(left).not.toContain("2026_12_02");
    // What comes after all has its day again.
    await expect(log.write([sampleAttempt({ ts: now - 8 * dayMs })], never)).rejects.toMatchObject({
      class: "retry",
    });
    await log.write([sampleAttempt({ ts: now - 8 * dayMs })], never);
  });
});
