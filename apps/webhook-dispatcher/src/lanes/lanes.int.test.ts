import { once } from "node:events";
import { createServer } from "node:http";
import { createMetrics } from "@sluice/service/metrics.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { expect, test } from "vitest";
import type { OpenTarget } from "../channels/channel.ts";
import { openHttpClient } from "../http/open.ts";
import { createLanes } from "./create-lanes.ts";
import type { Addressee, Clock } from "./lanes.ts";
import { defaultLimits } from "./limits.ts";
import { laneMetrics } from "./metrics.ts";
import { addressee, type Extra } from "./testing/receivers.ts";
import { countFates, delivery } from "./testing/world.ts";

const clock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Answers by the path: `/hang` never, `/fail` 500, others 200. */
async function openReceiver() {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(request.url ?? "");
    request.resume();
    if (request.url?.startsWith("/hang") === true) return;
    response.writeHead(request.url?.startsWith("/fail") === true ? 500 : 200).end();
  });
  const port = await listenOnLoopback(server);
  return {
    got,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("over real connections: a batch waits one window for endpoints that hang, the next for none, and a drain cuts them off", async () => {
  await using receiver = await openReceiver();
  const paths = Array.from({ length: 40 }, (_, index) => (index < 4 ? "hang" : index < 8 ? "fail" : "ok"));
  const targets = new Map<TargetId, Addressee>();
  for (const [index, path] of paths.entries()) {
    const id: TargetId = `ep_${index}`;
    const plan: OpenTarget["plan"] = (batch, now) => {
      const { requests, skipped } = plain.open.plan(batch, now);
      const url = `${receiver.url}/${path}/${index}`;
      const request = { method: "POST", url, headers: {}, body: "{}", allowPrivate: true } as const;
      return { skipped, requests: requests.map((each) => ({ ...each, request })) };
    };
    const extra: Extra = { host: `host-${index}`, workspaceId: index % 3, open: { plan } };
    const plain = addressee(id, { ...extra, open: {} }, () => {});
    targets.set(
      id,
      addressee(id, extra, () => {}),
    );
  }
  const outcomes: string[] = [];
  await using http = openHttpClient({ allowHttp: true, ports: "any", userAgent: "test" });
  await using lanes = createLanes({
    find: (id) => targets.get(id),
    isErased: () => false,
    http,
    ledger: { take: async () => new Set(), untake: async () => {} },
    members: () => 1,
    pausedUntil: () => undefined,
    onPause: () => {},
    onDisable: () => {},
    onOutcome: (_, fate) => outcomes.push(fate.kind === "settled" ? fate.outcome.kind : fate.why),
    // Longer than a busy machine takes for a quick answer.
    limits: { ...defaultLimits, slowMs: 2_500, patienceMs: 2_500 },
    clock,
    random: Math.random,
    metrics: laneMetrics(createMetrics()),
  });

  const batch = () => [...targets.keys()].map((id) => delivery(id));
  const first = await lanes.attempt(batch(), 3_000);
  expect(countFates(first)).toEqual({ delivered: 32, retry: 4, "under-way": 4 });
  const startedAt = performance.now();
  const second = await lanes.attempt(batch(), 30_000);
  expect(countFates(second)).toEqual({ delivered: 32, retry: 4, slow: 4 });
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await lanes.drain(AbortSignal.abort());
  expect(outcomes).toEqual(["retry", "retry", "retry", "retry"]);
  expect(receiver.got.filter((url) => url.startsWith("/ok"))).toHaveLength(64);
});
