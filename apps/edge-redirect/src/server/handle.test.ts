import { createServer } from "node:http";
import { inspect } from "node:util";

import type { Resolution } from "@sluice/link-store/link-cache.ts";
import { listen } from "@sluice/service/listen.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, it } from "vitest";

import { noCapture } from "../capture/capture.ts";
import { visit } from "../testing/http.ts";
import { peerAddress } from "../client/client-address.ts";
import { createHandler } from "./handle.ts";
import { serverMetrics } from "./metrics.ts";

const found = (destination: string): Resolution => ({
  kind: "found",
  link: {
    id: 1,
    workspaceId: 1,
    domain: "go.example.com",
    slug: "x",
    destination,
    status: 302,
    disabled: false,
  },
});

const settings = { name: "go.example.com", workspaceId: 1, caseMode: "exact", verified: true } as const;

/** What is known of the links by their slugs; a slug that throws is a bug. */
function get(_domain: string, slug: string): Resolution | Promise<Resolution> {
  if (slug === "bug") throw new Error("a bug");
  if (slug === "later") return Promise.resolve(found("https://example.com/\r\nX-Injected: 1"));
  return found(slug === "good" ? "https://example.com/" : "https://example.com/€");
}

it("a bug, or a destination that no header can hold, costs its visitor the answer and nobody the edge", async () => {
  const address = "127.113.99.241";
  const said: string[] = [];
  const handle = createHandler({
    domains: {
      named: (name) => ({ name, settings, freshUntil: 0, waitFrom: Infinity, asking: undefined, version: 0 }),
      settingsOf: () => settings,
    },
    links: { get },
    // As the journal answers: in another turn of the event loop.
    capture: { ...noCapture, record: (...click) => void setImmediate(() => noCapture.record(...click)) },
    addressOf: peerAddress,
    limits: { use: () => true },
    isPassword: async () => false,
    variantKey: "",
    metrics: serverMetrics(createMetrics()),
    log: { ...silentLog, error: (...line) => void said.push(inspect(line)) },
    now: Date.now,
    preparedBytes: 1024 ** 2,
  });
  const server = createServer((request, response) => handle(request, response, 0));
  const port = await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" });
  for (const path of ["/bug", "/later", "/%E2%82%AC"]) {
    expect(await visit(port, path, { from: address })).toMatchObject({ status: 500 });
    expect(await visit(port, "/good")).toMatchObject({ status: 302 });
  }
  expect(said).toEqual([expect.stringContaining("a request could not be handled")]);
  expect(said.join()).not.toContain(address);
  server.close();
});
