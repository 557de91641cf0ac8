import type { LocalServer } from "@sluice/local-services/server.ts";

import { keepServer } from "../keep-server.ts";

/** A ClickHouse engine that comes back at its address, some time after it was killed. */
export async function keepEngine(start: (at: { port?: number }) => Promise<LocalServer>) {
  const server = await keepServer(start);
  return {
    ...server,
    /** The rows of an answer, with their columns apart by tabs. */
    async ask(query: string, withinMs = 60_000): Promise<string[]> {
      const signal = AbortSignal.timeout(withinMs);
      const response = await fetch(server.url, { method: "POST", body: query, signal });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text.split("\n").filter((line) => line !== "");
    },
  };
}

export type Engine = Awaited<ReturnType<typeof keepEngine>>;
