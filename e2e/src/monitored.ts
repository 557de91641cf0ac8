import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { testPrometheus } from "@sluice/testkit/prometheus.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { z } from "zod";

import { createSystem } from "./system.ts";

const prometheusDir = fileURLToPath(new URL("../../infra/prometheus", import.meta.url));

const Answer = z.object({
  status: z.literal("success"),
  data: z.unknown(),
});
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
  const configuration = (await readFile(`${prometheusDir}/prometheus.yml`, "utf8"))
    .replaceAll("15s", "1s")
    .replace("rules/*.yml", `${prometheusDir}/rules/*.yml`)
    .replace("edge:9101", `127.0.0.1:${ports.edgeOps}`)
    .replace("ingester:9102", `127.0.0.1:${ports.ingesterOps}`)
    .replace("dispatcher:9103", `127.0.0.1:${ports.dispatcherOps}`);
  const prometheus = stack.use(await testPrometheus(configuration));

  async function ask(path: string): Promise<unknown> {
    const response = await fetch(`${prometheus.url}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
    const answer: unknown = await response.json();
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return Answer.parse(answer).data;
  }

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
    query: async (expr: string) => Result.parse(await ask(`query?query=${encodeURIComponent(expr)}`)).result,
    /** The names of all series that there have been. */
    names: async () => new Set(z.array(z.string()).parse(await ask("label/__name__/values"))),
    rules: async () => Rules.parse(await ask("rules")).groups.flatMap(({ rules }) => rules),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
