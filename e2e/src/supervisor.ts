import type { System } from "./system.ts";

/** Does what a service manager does: starts the supervisor again whenever it ends. */
export function keepSupervisor(system: System) {
  let stopping = false;
  let current = begin();
  function begin() {
    const started = system.start();
    return { ...started, followed: follow(started.ended) };
  }
  async function follow(ended: Promise<unknown>): Promise<void> {
    await ended;
    if (!stopping) current = begin();
  }
  async function stop(): Promise<number | null> {
    stopping = true;
    const last = current;
    last.child.kill("SIGTERM");
    await last.followed;
    return last.ended;
  }
  return {
    /** Of the one that runs now. */
    up: () => current.up,
    /** Resolves when the next one has been started. */
    async kill(): Promise<boolean> {
      const { child, followed } = current;
      const dealt = child.kill("SIGKILL");
      await followed;
      return dealt;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
