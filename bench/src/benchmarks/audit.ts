import { Agent, get } from "node:http";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import { silentLog } from "@sluice/service/log.ts";
import type { App } from "../app.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { createClicks } from "../clicks.ts";
import type { ShortLink } from "../links.ts";
import { pick, seeded } from "../random.ts";
import { openSite, workspaceName } from "../site.ts";
import { median, quantile, readMetric } from "../statistics.ts";

const plain = { name: "redirect-p95", unit: "ms" };
const audited = { name: "redirect-audited-p95", unit: "ms" };
const insert = { name: "bare-insert-p95", unit: "ms" };
const ratio = { name: "audit-added/bare-insert", unit: "ratio", goal: { atMost: 1.5 } };

/** As many visitors at a time: few enough that nobody waits for a core. */
const visitors = 2;
const visitsEach = 1_000;

/** What an audit row adds to a redirect, as its visitor sees it, beside the insert by itself from the same machine. */
export const auditMode: Benchmark = {
  name: "audit",
  figures: [plain, audited, insert, ratio],
  async run(bench) {
    await using site = await openSite(bench, 100);
    await using store = openAuditStore(site.databaseUrl, { log: silentLog });
    const { app, port } = await site.startEdge({ capture: "on" });
    const random = seeded(5);
    const clicks = createClicks({ edges: 1, total: 1_000_000 });
    const ofPlain: number[] = [];
    const ofAudited: number[] = [];
    const ofInsert: number[] = [];
    using agent = keepAlive();
    const visit = () => redirect(agent, port, pick(random, site.links));
    const row = async () => {
      const event = clicks.event();
      const { event_id: eventId, ts, link_id: linkId } = event;
      await store.record({
        eventId,
        ts,
        linkId,
        workspaceId: 1,
        event: Buffer.from(encodeClick(event)).toString(),
      });
    };
    for (let round = 0; round < bench.rounds; round += 1) {
      await store.setMode(workspaceName, undefined);
      await seenBy(app, { visit, audited: false }, bench);
      ofPlain.push(await p95(visit, bench));
      ofInsert.push(await p95(row, bench));
      await store.setMode(workspaceName, "redirect");
      await seenBy(app, { visit, audited: true }, bench);
      ofAudited.push(await p95(visit, bench));
    }
    bench.record(plain.name, ofPlain);
    bench.record(audited.name, ofAudited);
    bench.record(insert.name, ofInsert);
    const added = median(ofAudited) - median(ofPlain);
    bench.recordSingle(ratio.name, added / median(ofInsert));
  },
};

/** How long each of so many calls took, at the 95th percentile, in ms. */
async function p95(call: () => Promise<void>, { scale, signal }: Bench): Promise<number> {
  const times: number[] = [];
  const lanes = Array.from({ length: visitors }, async () => {
    for (let left = Math.ceil(visitsEach * scale); left > 0; left -= 1) {
      signal.throwIfAborted();
      const startedAt = performance.now();
      await call();
      times.push(performance.now() - startedAt);
    }
  });
  await Promise.all(lanes);
  return quantile(times, 0.95);
}

/** Visits until every link's clicks have rows, or have none: edges learn of a change within a second. */
async function seenBy(
  app: App,
  { visit, audited: wanted }: { visit: () => Promise<void>; audited: boolean },
  bench: Bench,
): Promise<void> {
  const rows = async () => readMetric(await app.metrics(), "edge_audit_rows_total");
  for (let alike = 0; alike < 50;) {
    bench.signal.throwIfAborted();
    const before = await rows();
    await visit();
    alike = (await rows()) - before === (wanted ? 1 : 0) ? alike + 1 : 0;
  }
}

function keepAlive(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

async function redirect(agent: Agent, port: number, { domain, slug }: ShortLink): Promise<void> {
  const options = { agent, host: "127.0.0.1", port, path: `/${slug}`, headers: { host: domain } };
  await new Promise<void>((resolve, reject) => {
    get(options, (response) => {
      response.resume();
      if (response.statusCode === 302) response.once("end", resolve);
      else reject(new Error(`edge: ${response.statusCode}`));
    }).on("error", reject);
  });
}
