import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { migrate } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { channelOf, leaseChannel, type LiveClick, parse, Watched } from "@sluice/pub-sub/live-feed.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { run } from "../testing/run.ts";

const deps = { log: silentLog, metrics: createMetrics() };

describeWith("sluice live", testPostgres, (postgres) => {
  let link: { id: number; workspaceId: number };

  beforeAll(async () => {
    await migrate(postgres().url, deps);
    await using links = openLinkStore(postgres().url, deps);
    await links.ensureDomain("go.example", "one");
    link = await links.create({ domain: "go.example", slug: "sale", destination: "https://example.com/" });
  });

  /** Publishes a click, as an ingester would, once somebody has said that they watch; gives what they said. */
  async function publish(referrer_domain: string): Promise<Watched | undefined> {
    await using pubSub = await openPubSub(postgres().url, deps);
    const agent = { device: "mobile", browser: "Safari", os: "iOS" };
    const click: LiveClick = {
      ...agent,
      event_id: "1",
      ts: 1_790_000_000_000,
      workspace_id: link.workspaceId,
      link_id: link.id,
      domain: "go.example",
      slug: "sale",
      country: "DE",
      referrer_domain,
      qr: true,
      is_bot: false,
    };
    for await (const notice of pubSub.subscribe(leaseChannel, { signal: AbortSignal.timeout(20_000) })) {
      const watched = notice.kind === "message" ? parse(Watched, notice.message) : undefined;
      if (watched === undefined) continue;
      await pubSub.publish(channelOf(watched), JSON.stringify({ clicks: [click], dropped: 0 }));
      return watched;
    }
    return undefined;
  }

  /** The first line that it prints, before it is ended by Ctrl-C. */
  async function firstLine(...options: string[]): Promise<unknown> {
    const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts"), "live", ...options], {
      env: { DATABASE_URL: postgres().url },
    });
    const line = new Promise((resolve) => createInterface(child.stdout).once("line", resolve));
    await line;
    child.kill("SIGINT");
    await once(child, "close");
    return await line;
  }

  test("prints the clicks of a link, a line each", async () => {
    const [line, watched] = await Promise.all([
      firstLine("--domain", "go.example", "--link", "sale"),
      publish("news.example\u001b[2J"),
    ]);
    expect(watched).toEqual({ workspaceId: link.workspaceId, linkId: link.id });
    expect(line).toBe(
      "2026-09-21T14:13:20.000Z  go.example/sale  DE  mobile Safari iOS  from news.example?[2J  (QR code)",
    );
  });

  test("prints those of a workspace, by its name or by one of its domains, as JSON", async () => {
    for (const option of [
      ["--workspace", "one"],
      ["--domain", "go.example"],
    ]) {
      const [line, watched] = await Promise.all([firstLine(...option, "--json"), publish("")]);
      expect(watched).toEqual({ workspaceId: link.workspaceId });
      expect(JSON.parse(String(line))).toMatchObject({ event_id: "1", link_id: link.id, country: "DE" });
    }
  });

  test("says what is not there", async () => {
    const env = { DATABASE_URL: postgres().url };
    for (const [option, value] of [
      ["--workspace", "two"],
      ["--link", "sale"],
      ["--domain", "other.example"],
    ] as const) {
      const { code, err } = await run(env, ["live", option, value]);
      expect(code).toBe(1);
      expect(err).toMatch(/^sluice: there is no /);
    }
  });
});
