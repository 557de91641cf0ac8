import type { Bell } from "../change-feed.ts";

/** A bell that a test rings. */
export function createRing(): Bell & { ring(): void } {
  const bell = new EventTarget();
  return {
    ring: () => void bell.dispatchEvent(new Event("ring")),
    async *subscribe(_channel, { signal }) {
      let rung = Promise.withResolvers<void>();
      const ring = () => rung.resolve();
      bell.addEventListener("ring", ring, { signal });
      signal.addEventListener("abort", ring);
      while (!signal.aborted) {
        yield { kind: "message" } as const;
        await rung.promise;
        rung = Promise.withResolvers();
      }
    },
  };
}
