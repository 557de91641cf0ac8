import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bench, type Benchmark, MissingTool } from "../benchmark.ts";
import { nginxTool, startNginx } from "../nginx.ts";
import { freePort, type Peer, startPeer } from "../peer.ts";
import { requireTool } from "../program.ts";
import { type Site, openSite } from "../site.ts";
import { median, readMetric } from "../statistics.ts";
import { wrk, wrkTool } from "../wrk.ts";

const full = { name: "redirects-full-capture", unit: "req/s" };
const off = { name: "redirects-capture-off", unit: "req/s" };
const bare = { name: "redirects-bare-node-http", unit: "req/s" };
const nginx = { name: "redirects-nginx", unit: "req/s" };
const toOff = { name: "redirects-full/off", unit: "ratio", goal: { atLeast: 0.85 } };
/** What `node:http` leaves to be had: ours cannot be above it. */
const bareToNginx = { name: "redirects-bare/nginx", unit: "ratio" };
const toNginx = { name: "redirects-full/nginx", unit: "ratio", goal: { atLeast: 0.4 } };

interface Server {
  readonly port: number;
  readonly rates: number[];
}

/** What capturing a click costs a redirect, and what a redirect of ours costs beside nginx's. */
export const redirects: Benchmark = {
  name: "redirects",
  figures: [full, off, bare, nginx, toOff, toNginx, bareToNginx],
  async run(bench) {
    await requireTool(wrkTool, bench);
    await using site = await openSite(bench, 10_000);
    // One core for the server and another for its visitors, as facts about other servers were measured.
    const [serverCore, clientCore = serverCore] = bench.cores;
    const captured = await site.startEdge({ capture: "on", core: serverCore });
    const uncaptured = await site.startEdge({ capture: "off", core: serverCore });
    await using nodeHttp = await startBare(site, serverCore, bench);
    await using peer = await startNginxIfThere(site, serverCore, bench);
    const servers = [captured, uncaptured, nodeHttp, ...(peer === undefined ? [] : [peer])].map(
      ({ port }): Server => ({
        port,
        rates: [],
      }),
    );
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
async function startNginxIfThere(
  site: Site,
  core: number | undefined,
  bench: Bench,
): Promise<Peer | undefined> {
  try {
    await requireTool(nginxTool, bench);
  } catch (error) {
    if (!(error instanceof MissingTool)) throw error;
    bench.note(error.message);
    return undefined;
  }
  return await startNginx({ dir: join(site.dir, "nginx"), location: locationOf(site), core }, bench);
}

const bareServer = fileURLToPath(new URL("../bare-server.ts", import.meta.url));

async function startBare(site: Site, core: number | undefined, bench: Bench): Promise<Peer> {
  const port = await freePort();
  const command = [process.execPath, bareServer, String(port), locationOf(site)];
  return await startPeer({ command, port, core }, bench);
}

function locationOf(site: Site): string {
  return site.links[0]?.destination ?? "";
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

function recordRates([ours, uncaptured, nodeHttp, peer]: readonly Server[], bench: Bench): void {
  if (ours === undefined || uncaptured === undefined || nodeHttp === undefined) return;
  bench.record(full.name, ours.rates);
  bench.record(off.name, uncaptured.rates);
  bench.record(bare.name, nodeHttp.rates);
  bench.recordSingle(toOff.name, median(ours.rates) / median(uncaptured.rates));
  if (peer === undefined) return;
  bench.record(nginx.name, peer.rates);
  bench.recordSingle(toNginx.name, median(ours.rates) / median(peer.rates));
  bench.recordSingle(bareToNginx.name, median(nodeHttp.rates) / median(peer.rates));
}
