import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { dumpTables } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, it } from "vitest";

import { type Canary, canary, findCanaries } from "./testing/canaries.ts";
import {
  forwardedForms,
  listForms,
  sendBroken,
  sendProxied,
  singleForms,
  visitAs,
} from "./testing/canary-visits.ts";
import type { EdgeProcess } from "./testing/edge-process.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

type Send = (port: number, canary: Canary, number: number) => Promise<void>;

interface Trial {
  readonly what: string;
  readonly env: Readonly<Record<string, string>>;
  /** Parameters of its journal. */
  readonly journal?: string;
  readonly audited?: boolean;
  readonly visitors: number;
  readonly send: Send;
  /** What it says that shows which answers it gave. */
  readonly says: string;
}

const proxies = { TRUSTED_PROXIES: "loopback" };
const anything = { "x-forwarded-for": listForms, forwarded: forwardedForms, "cf-connecting-ip": singleForms };
const byAnyHeader: Send = (port, who, number) => visitAs(port, who, number, anything);
const byList: Send = (port, who, number) => visitAs(port, who, number, { "x-forwarded-for": listForms });

/** Edges of every kind, and how visitors come to them; 10,000 in all. */
const trials: readonly Trial[] = [
  { what: "that trusts nobody", env: {}, visitors: 2_000, send: byAnyHeader, says: 'outcome="gone"' },
  {
    what: "that is sent what is no request",
    env: proxies,
    visitors: 1_000,
    send: sendBroken,
    says: 'reason="headers_too_large"',
  },
  {
    what: "behind a proxy with X-Forwarded-For",
    env: proxies,
    visitors: 2_000,
    send: byList,
    says: 'edge_visitors_total{address="unknown"}',
  },
  {
    what: "behind a proxy with Forwarded",
    env: { ...proxies, CLIENT_ADDRESS_HEADER: "forwarded" },
    visitors: 1_500,
    send: (port, who, number) => visitAs(port, who, number, { forwarded: forwardedForms }),
    says: 'edge_visitors_total{address="public"}',
  },
  {
    what: "behind a proxy with a header of its own",
    env: { ...proxies, CLIENT_ADDRESS_HEADER: "cf-connecting-ip", PRIVACY_SIGNALS: "ignore" },
    visitors: 1_000,
    send: (port, who, number) => visitAs(port, who, number, { "cf-connecting-ip": singleForms }),
    says: 'edge_visitors_total{address="public"}',
  },
  {
    what: "behind a balancer with the PROXY protocol",
    env: { ...proxies, PROXY_PROTOCOL: "on" },
    visitors: 1_000,
    send: sendProxied,
    says: 'reason="proxy_header"',
  },
  {
    what: "with a limit that all exceed",
    env: { ...proxies, RATE_LIMIT_PER_SECOND: "1", RATE_LIMIT_BURST: "1" },
    visitors: 500,
    async send(port, who, number) {
      for (let times = 0; times < 2; times += 1) await byList(port, who, number);
    },
    says: 'outcome="rate_limited"',
  },
  {
    what: "without Postgres",
    env: { ...proxies, DATABASE_URL: "postgres://127.0.0.1:1/none" },
    visitors: 500,
    send: byList,
    says: 'outcome="unavailable"',
  },
  {
    what: "with a row in Postgres for each click",
    env: { ...proxies, AUDIT: "on" },
    audited: true,
    visitors: 300,
    send: byList,
    says: "audit",
  },
  {
    what: "without room for a click",
    env: proxies,
    // More than any disk has.
    journal: "reserveBytes=1000000000000000",
    visitors: 200,
    send: byList,
    says: 'edge_clicks_refused_total{reason="full"}',
  },
];
const atOnce = 32;

/** Sends those numbered from `first` on; gives all that the edge says of itself until it has left. */
async function visitAndStop(edge: EdgeProcess, first: number, visitors: number, send: Send): Promise<string> {
  let next = first;
  const work = async () => {
    while (next < first + visitors) {
      const number = next;
      next += 1;
      await send(edge.port, canary(number), number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const ops = `http://127.0.0.1:${edge.opsPort}`;
  const pages = [await fetch(`${ops}/metrics`), await fetch(`${ops}/readyz`), await fetch(`${ops}/livez`)];
  const said = await Promise.all(pages.map((page) => page.text()));
  edge.kill("SIGTERM");
  await edge.exited;
  return [...said, edge.output()].join("\n");
}

async function filesOf(journal: Journal): Promise<Buffer> {
  const files: Buffer[] = [];
  for (const entry of await readdir(journal.dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) files.push(await readFile(join(entry.parentPath, entry.name)));
  }
  return Buffer.concat(files);
}

/** Random digits of exactly these forms are no address, and too many not to look like one now and then. */
function withoutIds(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1").replaceAll(/visitor\\*":\\*"[\da-f]{32}/g, "");
  return Buffer.from(
    text.replaceAll(/[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, ""),
    "latin1",
  );
}

/** Each way of sending is used by hundreds, so a leak is found as often; checksums are random, and look like one once. */
const byChance = 10;

describeWith("a visitor's address", openWorld, (world) => {
  beforeAll(async () => {
    const { link, store } = world();
    for (const slug of ["demo", "🍞", "wp-login.php", "off"]) await link(slug);
    await link("locked", { password: "open sesame" });
    await link("ruled", { rules: [{ countries: ["DE"], destination: "https://example.com/de" }] });
    const variants = ["a", "b"].map((name) => ({ destination: `https://example.com/${name}`, weight: 1 }));
    await link("split", { variants });
    await link("few", { maxClicks: 20 });
    await link("over", { expiresAt: Date.now() - 1000 });
    await store.disable("go.example.com", "off");
  });

  it("promise 6: is in nothing that the edge writes, logs or counts, of 10,000 who come in every way", async () => {
    const wrote: Buffer[] = [];
    const visitors = new Set<string>();
    await using audit = openAuditStore(world().postgres.url, { log: silentLog });
    let first = 0;
    for (const { what, visitors: count, send, env, journal: parameters, audited, says } of trials) {
      await audit.setMode("test", audited === true ? "redirect" : undefined);
      await using journal = await openJournal(world().postgres.url, parameters);
      await using edge = await journal.start({
        env: { LOG_LEVEL: "debug", HOT_LINKS_EVERY_MS: "100", ...env },
      });
      const said = await visitAndStop(edge, first, count, send);
      if (!said.includes(says)) throw new Error(`an edge ${what} does not say ${says}`);
      expect({ what, written: findCanaries(Buffer.from(said)).written }).toEqual({ what, written: [] });
      wrote.push(Buffer.from(said), await filesOf(journal));
      for (const { visitor } of (await journal.read()).clicks) visitors.add(visitor);
      first += count;
    }
    expect(first).toBe(10_000);
    const tables = await dumpTables(world().postgres.url);
    expect(tables).toContain("<recorded_at>");
    const { written, alike } = findCanaries(withoutIds(Buffer.concat([...wrote, Buffer.from(tables)])));
    expect(written).toEqual([]);
    expect(alike).toBeLessThan(byChance);
    // They were looked at, all the same: visitors were told apart.
    expect(visitors.size).toBeGreaterThan(1_500);
  }, 180_000);

  it("is found by that search where it is written: in a user agent, which is a visitor's own words", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start();
    await visitAndStop(edge, 0, 20, (port, who) =>
      visitAs(port, who, 0, { "user-agent": [({ v4 }) => `Mozilla/5.0 ${v4}`] }),
    );
    expect(findCanaries(await filesOf(journal)).written).toEqual(["198.19."]);
  });
});
