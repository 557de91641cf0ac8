import { withinMs } from "@sluice/service/time-limit.ts";
import { createClient, type RedisClientOptions } from "@redis/client";

import type { Host } from "./url.ts";

/** What one sentinel may take, so that one that is silent leaves time to connect to the server itself. */
const sentinelMs = 700;

/**
 * Where the sentinels say that the set's primary is. All are asked at once, and the answer with the highest epoch counts:
 * one that is cut off from the others may still name the server that they have replaced. Rejects when none names one.
 */
export async function findPrimary(
  name: string,
  sentinels: readonly Host[],
  optionsOf: (sentinel: Host, connectMs: number) => RedisClientOptions,
): Promise<Host> {
  const asked = await Promise.allSettled(
    sentinels.map((sentinel) => ask(name, optionsOf(sentinel, sentinelMs))),
  );
  const found = asked
    .flatMap((each) => (each.status === "fulfilled" ? [each.value] : []))
    .toSorted((a, b) => b.epoch - a.epoch)[0];
  if (found !== undefined) return found;
  const reasons = asked.flatMap((each): unknown[] => (each.status === "rejected" ? [each.reason] : []));
  const said = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
  // With the first one's code, by which TLS and refusals are explained.
  throw new Error(`no sentinel names a primary for "${name}": ${[...new Set(said)].join("; ")}`, {
    cause: reasons[0],
  });
}

async function ask(name: string, options: RedisClientOptions): Promise<Host & { readonly epoch: number }> {
  const client = createClient({ ...options, RESP: 2, name: "sluice-sentinels" });
  // What breaks it is told by the calls below.
  client.on("error", () => {});
  try {
    const answer = client.connect().then(() => client.sendCommand<unknown>(["SENTINEL", "MASTER", name]));
    return primaryOf(await withinMs(sentinelMs, answer));
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function primaryOf(answer: unknown): Host & { readonly epoch: number } {
  const list = Array.isArray(answer) ? answer.map(String) : [];
  const fieldAfter = (name: string): string => list[list.indexOf(name) + 1] ?? "";
  return {
    host: fieldAfter("ip"),
    port: Number(fieldAfter("port")),
    epoch: Number(fieldAfter("config-epoch")),
  };
}
