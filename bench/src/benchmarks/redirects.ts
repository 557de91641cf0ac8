import { join } from "node:path";
import { type Bench, type Benchmark, MissingTool } from "../benchmark.ts";
import { type Nginx, nginxTool, startNginx } from "../nginx.ts";
import { requireTool } from "../program.ts";
import { type Site, openSite } from "../site.ts";
import { median, readMetric } from "../statistics.ts";
import { wrk, wrkTool } from "../wrk.ts";

const full = { name: "redirects-full-capture", unit: "req/s" };
const off = { name: "redirects-capture-off", unit: "req/s" };
const nginx = { name: "redirects-nginx", unit: "req/s" };
const toOff = { name: "redirects-full/off", unit: "ratio", goal: { atLeast: 0.85 } };
const toNginx = { name: "redirects-full/nginx", unit: "ratio", goal: { atLeast: 0.4 } };

interface Server {
  readonly port: number;
  readonly rates: number[];
}

/** What capturing a click costs a redirect, and what a redirect of ours costs beside nginx's. */
export const redirects: Benchmark = {
  name: "redirects",
  figures: [full, off, nginx, toOff, toNginx],
  async run(bench) {
    await requireTool(wrkTool, bench);
    await using site = await openSite(bench, 10_000);
    // One core for the server and another for its visitors, as facts about other servers were measured.
    const [serverCore, clientCore = serverCore] = bench.cores;
    const captured = await site.startEdge({ capture: "on", core: serverCore });
    const uncaptured = await site.startEdge({ capture: "off", core: serverCore });
    await using peer = await startPeer(site, serverCore, bench);
    const servers = [captured, uncaptured, ...(peer === undefined ? [] : [peer])].map(({ port }): Server => ({
      port,
      rates: [],
    }));
    bench.note(`servers on core ${serverCore}, wrk with 64 connections on core ${clientCore}`);

    const load = { requestsPath: site.requestsPath, core: clientCore };
    const seconds = Math.ceil(4 * bench.scale);
    for (const { port } of servers) await wrk({ ...load, port, seconds: Math.ceil(seconds / 2) }, bench);
    for (let round = 0; round < bench.rounds; round += 1) {
      // Each server is the first as often as any other.
      const turns = servers.map((_, index) => servers[(index + round) % servers.length]);
      for (const server of turns)
        server?.rates.push(await wrk({ ...load, port: server.port, seconds }, bench));
    }
    await checkCaptured(await captured.app.metrics());
    recordRates(servers, bench);
  },
};

/** Undefined, with a note, when nginx is not there. */
async function startPeer(site: Site, core: number | undefined, bench: Bench): Promise<Nginx | undefined> {
  try {
    await requireTool(nginxTool, bench);
  } catch (error) {
    if (!(error instanceof MissingTool)) throw error;
    bench.note(error.message);
    return undefined;
  }
  const location = site.links[0]?.destination ?? "";
  return await startNginx({ dir: join(site.dir, "nginx"), location, core }, bench);
}

/** Full capture means every click: a rate that left some out would be another figure. */
async function checkCaptured(metrics: string): Promise<void> {
  const refused = readMetric(metrics, "edge_clicks_refused_total");
  const accepted = readMetric(metrics, "edge_clicks_accepted_total");
  const written = readMetric(metrics, "journal_appended_records_total");
  if (refused > 0 || accepted === 0 || written < accepted) {
    throw new Error(`edge: ${accepted} clicks accepted, ${refused} refused, ${written} journaled`);
  }
}

function recordRates([ours, bare, peer]: readonly Server[], bench: Bench): void {
  if (ours === undefined || bare === undefined) return;
  bench.record(full.name, ours.rates);
  bench.record(off.name, bare.rates);
  bench.recordSingle(toOff.name, median(ours.rates) / median(bare.rates));
  if (peer === undefined) return;
  bench.record(nginx.name, peer.rates);
  bench.recordSingle(toNginx.name, median(ours.rates) / median(peer.rates));
}
