import { ErrorReply } from "@redis/client";

import { noCluster, RedisUrlError } from "./url.ts";

/** What we need of a client of the driver, whatever types it has been told to give. */
export interface Sends {
  sendCommand(command: string[]): Promise<unknown>;
}

/** What a server says that it is. */
export interface Hello {
  readonly mode: string | undefined;
  readonly role: string | undefined;
}

/** Asks without changing the protocol. A server that will not say leaves both undefined. */
export async function helloOf(connected: Sends): Promise<Hello> {
  let answer: unknown;
  try {
    answer = await connected.sendCommand(["HELLO"]);
  } catch (error) {
    if (!(error instanceof ErrorReply)) throw error;
    return { mode: undefined, role: undefined };
  }
  const fields = new Map(pairsOf(answer));
  return { mode: fields.get("mode"), role: fields.get("role") };
}

/** Undefined where it is what we look for. */
export function explainHello({ mode, role }: Hello, isSet: boolean, setting: string): Error | undefined {
  if (mode === "cluster") return new RedisUrlError(`redis: ${setting} ${noCluster}`);
  if (mode === "sentinel")
    return new RedisUrlError(
      `redis: ${setting} names a sentinel: write redis+sentinel://host:26379/name for the set that it watches`,
    );
  // A sentinel may have named it a moment before the fail-over, or not heard of that yet.
  if (isSet && role !== undefined && role !== "master")
    return new Error(`redis: the server that the sentinels name is a ${role} now`);
  return undefined;
}

/** A list of names and values, a map or an object, by the client's protocol and types. */
function pairsOf(answer: unknown): [string, string][] {
  if (answer instanceof Map) return [...answer].map(([name, value]) => [String(name), String(value)]);
  if (!Array.isArray(answer))
    return Object.entries(typeof answer === "object" && answer !== null ? answer : {}).map(
      ([name, value]) => [name, String(value)],
    );
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < answer.length; index += 2)
    pairs.push([String(answer[index]), String(answer[index + 1])]);
  return pairs;
}
