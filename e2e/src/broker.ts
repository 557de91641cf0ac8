import { setTimeout as delay } from "node:timers/promises";

import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

/** A broker of one node that comes back after it was killed. */
export interface Broker extends AsyncDisposable {
  readonly url: string;
  /** Returns false while it is away. */
  kill(): Promise<boolean>;
}

/** How long a broker stays away: longer than a client's first attempts, shorter than anybody's patience. */
const awayMs = 1_500;

export async function openBroker(): Promise<Broker> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await tempDir());
  const kafka = resources.use(await startKafka({ dataDir: path, log: silentLog }));
  const [node] = kafka.nodes;
  if (node === undefined) throw new Error("a cluster of one broker has none");
  const opened = resources.move();
  let away = Promise.resolve();
  return {
    url: kafka.url,
    async kill() {
      if (node.server() === undefined) return false;
      await node.kill();
      away = delay(awayMs).then(() => node.start());
      return true;
    },
    async [Symbol.asyncDispose]() {
      await away;
      await opened[Symbol.asyncDispose]();
    },
  };
}
