/** For a promise that nobody awaits: a bug ends the process, and the log brings again what was in hand. */
export function crash(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
