import type { Engine } from "../fault-soak/engine.ts";
import type { KeptApp } from "../keep-app.ts";
import type { Column } from "./curve.ts";
import { hook, type Installation } from "./installation.ts";
import type { Visitors } from "./visitors.ts";

/** A look takes no longer than this, so that the curve has one each second. */
const withinMs = 900;

/** What an operator watches, region by region where there are several. */
export function columnsOf(
  { edges, ingesters, dispatchers, receiver, servers }: Installation,
  visitors: readonly Visitors[],
): Column[] {
  let stored: Promise<ReadonlyMap<string, number>> = Promise.resolve(new Map());
  async function look(): Promise<number> {
    // While the store is away it has what it had.
    const before = stored;
    stored = storedByEdge(servers.clickhouse).catch(() => before);
    return total([...(await stored).values()]);
  }
  const named = (what: string, name: string) => (visitors.length === 1 ? what : `${what} ${name}`);
  return [
    { name: "answered", panel: "clicks", read: () => total(visitors.map(({ answered }) => answered.size)) },
    { name: "failed", panel: "clicks", read: () => total(visitors.map((each) => each.failed())) },
    { name: "refused", panel: "clicks", read: () => ofEdges(edges, "edge_clicks_refused_total") },
    { name: "stored", panel: "clicks", read: look },
    { name: "delivered", panel: "clicks", read: () => receiver.at(hook).marks.size },
    ...visitors.map(({ name, answered }) => ({
      name: named("to store", name),
      panel: "answered, and not stored yet",
      async read() {
        const theirs = visitors.length === 1 ? edges : edges.filter((edge) => edge.name === name);
        const refused = await ofEdges(theirs, "edge_clicks_refused_total");
        const known = await stored;
        return Math.max(0, answered.size - refused - total(theirs.map((edge) => known.get(edge.name) ?? 0)));
      },
    })),
    ...edges.map(({ name, app }) => ({
      name: edges.length === 1 ? "unshipped s" : `unshipped s ${name}`,
      panel: "age of what the journal has not shipped, s",
      read: () => app.metric("edge_oldest_unshipped_seconds"),
    })),
    ...visitors.map((each) => ({
      name: named("p99 ms", each.name),
      panel: "redirect, 99 of 100 visitors, ms",
      read: () => each.p99Ms(),
    })),
    memory(
      "edge MB",
      edges.map(({ app }) => app),
    ),
    memory("ingester MB", ingesters),
    memory("dispatcher MB", dispatchers),
  ];
}

async function storedByEdge(engine: Engine): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.ask("SELECT edge, count() FROM click_events GROUP BY edge", withinMs);
  return new Map(rows.map((row) => row.split("\t")).map(([edge = "", many]) => [edge, Number(many)]));
}

/** A counter that nobody has counted up yet is not there. */
async function ofEdges(edges: Installation["edges"], metric: string): Promise<number> {
  return total(await Promise.all(edges.map(async ({ app }) => (await app.metric(metric)) ?? 0)));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0);
}

/** Of the largest of them. */
function memory(name: string, apps: readonly KeptApp[]): Column {
  return {
    name,
    panel: "memory, MB",
    read: async () =>
      Math.round(Math.max(0, ...(await Promise.all(apps.map((app) => app.residentBytes())))) / 1e6),
  };
}
