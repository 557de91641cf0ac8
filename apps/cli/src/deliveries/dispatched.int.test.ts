import { createServer } from "node:http";

import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { migrate } from "@sluice/link-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { startApp } from "@sluice/testkit/app-process.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { expect, test } from "vitest";

import { secretKey } from "../testing/dispatcher.ts";
import { runHere } from "../testing/run-here.ts";
import { storeClicks } from "../testing/stored-clicks.ts";

const patience = { timeout: 30_000, interval: 50 };

/** A Postgres for everything, a dispatcher, and a customer's server on loopback. */
async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await testPostgres());
  const { path } = stack.use(await tempDir());
  const env = { DATABASE_URL: url, CLICK_STORE_URL: url, SECRET_KEYS: secretKey };
  await migrate(url, { log: silentLog });
  await migrateClicks(url, { log: silentLog });
  await runHere(env, ["link", "create", "https://example.com/"]);
  const received: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const id = request.headers["webhook-id"];
    request.resume().on("end", () => {
      received.push(typeof id === "string" ? id : undefined);
      response.writeHead(204).end();
    });
  });
  const port = await listenOnLoopback(server);
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const dispatcher = stack.use(
    startApp(new URL("../../../webhook-dispatcher/src/main.ts", import.meta.url), {
      ...env,
      EVENT_LOG_URL: `journal://${path}?groups=dispatcher`,
      ALLOW_HTTP: "true",
      ALLOWED_PORTS: "any",
    }),
  );
  await dispatcher.said("operations server listening");
  const opened = stack.move();
  return {
    env,
    dispatcher,
    received,
    receiver: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("endpoints from the command line, with a dispatcher", openWorld, (world) => {
  const sluice = (...args: string[]) => runHere(world().env, ["endpoint", ...args]);

  test("one on loopback is refused, allowed, tested, and sent a replay under one id each time", async () => {
    const { received, receiver, env, dispatcher } = world();
    await expect.poll(async () => (await dispatcher.readiness()).status, patience).toBe(200);
    const made = await sluice("create", receiver);
    const [id = ""] = made.out;
    expect(made.err).toContain(`${id}: the test failed, address-not-allowed`);
    expect(received).toEqual([]);
    await sluice("allow-private", id);
    expect((await sluice("test", id)).out).toEqual([`${id}  the test was delivered (status 204)`]);
    expect(received).toHaveLength(1);

    const ts = Date.now() - 60_000;
    await storeClicks(env.CLICK_STORE_URL, [sampleClick({ event_id: uuidv7(ts), ts, workspace_id: 1 })]);
    const replay = () => sluice("replay", id, "--from", new Date(ts).toISOString());
    expect((await replay()).out).toEqual(["1 clicks are due again"]);
    await expect.poll(() => received.length, patience).toBe(2);
    const again = async () => {
      await replay();
      return received.length;
    };
    await expect.poll(again, patience).toBeGreaterThan(2);
    const [, first, second] = received;
    expect(second).toBe(first);
    const logged = async () => (await sluice("deliveries", id)).out;
    await expect.poll(async () => (await logged()).length, patience).toBeGreaterThan(1);
    expect((await logged())[0]).toMatch(/ {2}delivered {2}status 204 {2}\d+ ms {2}attempt 1 of a replay {2}/);
  });
});
