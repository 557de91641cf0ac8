import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench } from "./benchmark.ts";
import { freePort, type Peer, startPeer } from "./peer.ts";
import { run } from "./program.ts";
import type { Site } from "./site.ts";

export const goTool = { name: "go", debianPackage: "golang", versionFlag: "version" };

const source = fileURLToPath(new URL("../peers/classic", import.meta.url));
const countries = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";

/**
 * What many would build first: fasthttp, links in a map, and franz-go that nobody waits for (`bench/peers/classic`).
 * Built here; its modules are fetched the first time, which may take minutes.
 */
export async function startClassicStack(
  site: Site,
  { broker, topic }: { broker: string; topic: string },
  bench: Bench,
): Promise<Peer> {
  const program = join(site.dir, "classic");
  await run(["go", "build", "-C", source, "-o", program], { signal: bench.signal, timeoutMs: 600_000 });
  const links = join(site.dir, "links.ndjson");
  const lines = site.links.map((link, index) => JSON.stringify({ id: index + 1, workspaceId: 1, ...link }));
  await writeFile(links, lines.join("\n"));
  const port = await freePort();
  const geo = createRequire(import.meta.url).resolve(countries);
  const flags = { port, links, geo, broker, topic };
  const args = Object.entries(flags).flatMap(([name, value]) => [`-${name}`, String(value)]);
  const [{ domain, slug } = { domain: "", slug: "" }] = site.links;
  return await startPeer(
    { command: [program, ...args], port, core: undefined, visit: { domain, slug } },
    bench,
  );
}
