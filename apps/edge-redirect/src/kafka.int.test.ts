import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { type TestKafka, testKafka } from "@sluice/testkit/kafka.ts";
import { beforeAll, expect, it } from "vitest";

import { startLoad } from "./testing/load.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { numbersByRun, openJournal, openWorld, readLog, type World } from "./testing/world.ts";

async function openBoth(): Promise<{ world: World; kafka: TestKafka } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await testKafka());
  const world = stack.use(await openWorld());
  const opened = stack.move();
  return { world, kafka, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("an edge and its broker", openBoth, (both) => {
  beforeAll(async () => {
    await both().world.link("demo");
  });

  it("may both be killed: every click that was answered reaches the broker, by whichever edge is left", async ({
    skip,
  }) => {
    const { world, kafka } = both();
    const [broker] = kafka.cluster?.nodes ?? [];
    if (broker === undefined) skip("the broker is not ours to kill");
    const topic = `${kafka.topicPrefix}clicks`;
    await createTopics(kafka.url, [{ topic, partitions: 3, replication: 1 }]);
    await using journal = await openJournal(world.postgres.url);
    const env = { EVENT_LOG_URL: kafka.url, EVENT_LOG_TOPIC: topic, JOURNAL_DIR: journal.dir };

    const answered: string[] = [];
    {
      await using first = await journal.start({ env });
      const load = startLoad(first.port, "/demo", { name: "first" });
      await until("clicks are shipped", async () => (await metric(first, "edge_shipped_records_total")) > 0);
      await broker?.kill();
      await until("clicks wait", async () => (await metric(first, "edge_oldest_unshipped_seconds")) > 1);
      expect((await readyz(first)).ready).toBe(true);
      await load.reached(load.answered.length + 500);
      first.kill("SIGKILL");
      await load.ended;
      answered.push(...load.answered);
    }
    await using second = await journal.start({ env });
    const load = startLoad(second.port, "/demo", { name: "second" });
    await load.reached(500);
    load.stop();
    await load.ended;
    answered.push(...load.answered);
    await broker?.start();
    await until(
      "all is shipped",
      async () => (await marksIn(kafka.url, topic)).size >= answered.length,
      60_000,
    );
    second.kill("SIGTERM");
    expect(await second.exited).toMatchObject({ code: 0 });

    const content = await readLog(kafka.url, topic, "check");
    const journaled = new Set(content.clicks.map(({ utm }) => utm.source));
    expect(answered.filter((mark) => !journaled.has(mark))).toEqual([]);
    for (const { missing } of numbersByRun(content).values()) expect(missing).toEqual([]);
  });
});

let reads = 0;
async function marksIn(url: string, topic: string): Promise<Set<string>> {
  reads += 1;
  const { clicks } = await readLog(url, topic, `count-${reads}`);
  return new Set(clicks.map(({ utm }: ClickEvent) => utm.source));
}
