import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { z } from "zod";

import { Marks } from "../marks.ts";

const main = fileURLToPath(new URL("receiver-process.ts", import.meta.url));

const Message = z.union([
  z.object({ port: z.int() }),
  z.object({ kind: z.string() }),
  z.object({ path: z.string(), mark: z.int(), id: z.string() }),
]);

/** What was stored of what was sent to one path. */
export interface Stored {
  /** The clicks, by their marks. */
  readonly marks: Marks;
  /** Requests that were stored. */
  requests: number;
  /** The `webhook-id` of each click. */
  readonly ids: Map<number, string>;
  /** Clicks that came under two ids. */
  renamed: number;
}

export interface SoakReceiver extends AsyncDisposable {
  readonly url: string;
  at(path: string): Stored;
  /** What it did instead of taking a request, and how often. */
  readonly moods: ReadonlyMap<string, number>;
}

export interface Moods {
  /** Chooses when it has which. */
  readonly seed: number;
  /** The only one that it has. */
  readonly only?: string;
}

/** A server of its own process, at that address of this machine. With moods it fails, hangs, cuts and asks for time now and then. */
export async function startReceiver(moodsWanted?: Moods, host = "127.0.0.1"): Promise<SoakReceiver> {
  const { seed, only } = moodsWanted ?? {};
  const args = [host, seed, only].filter((each) => each !== undefined);
  const child = fork(main, args.map(String), { stdio: "inherit" });
  const stored = new Map<string, Stored>();
  const moods = new Map<string, number>();
  const listening = Promise.withResolvers<number>();
  const at = (path: string) => {
    const known = stored.get(path) ?? { marks: new Marks(), requests: 0, ids: new Map(), renamed: 0 };
    stored.set(path, known);
    return known;
  };
  child.on("message", (sent: unknown) => {
    const message = Message.parse(sent);
    if ("port" in message) listening.resolve(message.port);
    else if ("kind" in message) moods.set(message.kind, (moods.get(message.kind) ?? 0) + 1);
    else note(at(message.path), message);
  });
  child.once("exit", () => listening.reject(new Error("the receiver ended")));
  const port = await listening.promise;
  return {
    url: `http://${host}:${port}`,
    at,
    moods,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

function note(stored: Stored, { mark, id }: { mark: number; id: string }): void {
  stored.requests += 1;
  stored.marks.add(mark);
  if ((stored.ids.get(mark) ?? id) !== id) stored.renamed += 1;
  stored.ids.set(mark, id);
}
