import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { testPrometheus } from "@sluice/testkit/prometheus.ts";
import { z } from "zod";

const prometheusDir = fileURLToPath(new URL("../../infra/prometheus", import.meta.url));

const Answer = z.object({ status: z.literal("success"), data: z.unknown() });
const Alerts = z.object({
  alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })),
});

/** The ports of their operations servers. */
export interface Scraped {
  readonly edge: number;
  readonly ingester: number;
  readonly dispatcher: number;
}

/** A Prometheus with our configuration and rules, scraping apps on this machine every second. */
export async function prometheusOver({ edge, ingester, dispatcher }: Scraped) {
  const configuration = (await readFile(`${prometheusDir}/prometheus.yml`, "utf8"))
    .replaceAll("15s", "1s")
    .replace("rules/*.yml", `${prometheusDir}/rules/*.yml`)
    .replace("edge:9101", `127.0.0.1:${edge}`)
    .replace("ingester:9102", `127.0.0.1:${ingester}`)
    .replace("dispatcher:9103", `127.0.0.1:${dispatcher}`);
  const prometheus = await testPrometheus(configuration);
  return {
    /** The data of an answer of its API. */
    async ask(path: string): Promise<unknown> {
      const response = await fetch(`${prometheus.url}/api/v1/${path}`, {
        signal: AbortSignal.timeout(10_000),
      });
      const answer: unknown = await response.json();
      if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
      return Answer.parse(answer).data;
    },
    [Symbol.asyncDispose]: () => prometheus[Symbol.asyncDispose](),
  };
}

/** Which of our alarms are raised. */
export async function alarmsOver(scraped: Scraped) {
  const prometheus = await prometheusOver(scraped);
  return {
    async firing(): Promise<string[]> {
      const { alerts } = Alerts.parse(await prometheus.ask("alerts"));
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname);
    },
    [Symbol.asyncDispose]: () => prometheus[Symbol.asyncDispose](),
  };
}
