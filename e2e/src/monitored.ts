import { testRedis } from "@sluice/testkit/redis.ts";
import { z } from "zod";

import { prometheusOver } from "./prometheus-over.ts";
import { createSystem } from "./system.ts";

const Result = z.object({ result: z.array(z.unknown()) });
const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          name: z.string(),
          health: z.string(),
          lastError: z.string().optional(),
          state: z.string().optional(),
        }),
      ),
    }),
  ),
});

/**
 * What `npm start` runs, with Redis as its event log, scraped by a Prometheus that has our configuration and rules:
 * every second, and from where the apps are here.
 */
export async function openMonitored() {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await testRedis());
  const system = stack.use(
    await createSystem({ env: { EVENT_LOG_URL: `${redis.url}?groups=store,fanout` } }),
  );
  await system.start().up;
  const { ports } = system;
  const prometheus = stack.use(
    await prometheusOver({
      edge: ports.edgeOps,
      ingester: ports.ingesterOps,
      dispatcher: ports.dispatcherOps,
    }),
  );

  const opened = stack.move();
  return {
    /** A person's click, or a program's, with all that the business board asks for. */
    async click(agent: string): Promise<void> {
      await fetch(`http://localhost:${ports.edge}/demo?utm_source=letter&utm_campaign=spring&gclid=1`, {
        redirect: "manual",
        headers: { "user-agent": agent },
      });
    },
    sql: (statement: string) => system.query(statement),
    /** The series of a query, as of now. */
    query: async (expr: string) =>
      Result.parse(await prometheus.ask(`query?query=${encodeURIComponent(expr)}`)).result,
    /** The names of all series that there have been. */
    names: async () => new Set(z.array(z.string()).parse(await prometheus.ask("label/__name__/values"))),
    rules: async () => Rules.parse(await prometheus.ask("rules")).groups.flatMap(({ rules }) => rules),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
