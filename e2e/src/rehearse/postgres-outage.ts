import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { answer } from "../clicks.ts";
import { sluice } from "../sluice.ts";
import type { Rehearsal } from "./rehearsal.ts";

/** How long an edge may take to see that Postgres is back. */
const backWithinMs = 30_000;

/**
 * Links in memory redirect, others get 503 for the time being and none a 404; deliveries that fail cannot be parked,
 * so the dispatcher keeps its batch in hand.
 */
export const postgresOutage: Rehearsal = {
  layout: { log: "kafka", regions: ["edge"], ingesters: 1, dispatchers: 1, refuses: true },
  phase: "Postgres is away",
  async happen({ installation, forMs }) {
    const { addresses, edges, servers } = installation;
    await sluice(addresses, "link", "create", "https://example.com/late", "--slug", "late");
    const agent = new Agent();
    const visitLate = () => answer(agent, edges[0]?.port ?? 0, "/late");
    const back = servers.postgres.away(delay(forMs));
    await delay(forMs / 2);
    const meanwhile = await visitLate();
    await back;
    let afterwards = await visitLate();
    for (const until = performance.now() + backWithinMs; performance.now() < until; await delay(100)) {
      if (afterwards === "302") break;
      afterwards = await visitLate();
    }
    return [
      ...(meanwhile === "503" ? [] : [`a link that is not in memory got ${meanwhile}, not 503`]),
      ...(afterwards === "302" ? [] : [`with Postgres back it gets ${afterwards}`]),
    ];
  },
  check: ({ growth }) =>
    growth("delivered") < growth("answered") ? [] : ["no delivery had to wait: was anything broken?"],
};
