import { Agent } from "node:http";

import { visit } from "./http.ts";

export interface Load {
  /** The marks of the visitors that were redirected, complete once `ended` has resolved. */
  readonly answered: readonly string[];
  /** How many have asked, all of whom have been answered or left once `ended` has resolved. */
  asked(): number;
  /** Resolves when `count` of them were, or the edge has gone. */
  reached(count: number): Promise<void>;
  stop(): void;
  readonly ended: Promise<unknown>;
}

/**
 * So many visitors at a time, each on a connection of its own, one click after the other; each click carries a mark
 * of its own as `utm_source`. A visitor leaves when the edge no longer answers. `port` may choose for each click.
 */
export function startLoad(
  port: number | (() => number),
  path: string,
  { visitors = 16, name = "" } = {},
): Load {
  const answered: string[] = [];
  const progress = new EventTarget();
  const stopped = new AbortController();
  let next = 0;

  async function keepVisiting(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      while (!stopped.signal.aborted) {
        next += 1;
        const mark = `${name}-${next}`;
        const to = typeof port === "number" ? port : port();
        const { status } = await visit(to, `${path}?utm_source=${mark}`, { agent });
        if (status === 302) answered.push(mark);
        progress.dispatchEvent(new Event("click"));
      }
    } catch {
      // The edge has gone.
    } finally {
      agent.destroy();
    }
  }
  const ended = Promise.all(Array.from({ length: visitors }, keepVisiting));
  return {
    answered,
    asked: () => next,
    ended,
    stop: () => stopped.abort(),
    async reached(count) {
      const enough = Promise.withResolvers<void>();
      const look = () => {
        if (answered.length >= count) enough.resolve();
      };
      progress.addEventListener("click", look);
      look();
      await Promise.race([enough.promise, ended]);
      progress.removeEventListener("click", look);
    },
  };
}
