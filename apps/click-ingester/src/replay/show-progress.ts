import type { Replayed } from "./replayed.ts";

/** Says on a terminal how far a replay has come, in one line that is drawn over; nothing elsewhere. */
export function showProgress(
  stream: { readonly isTTY: boolean; write(text: string): unknown },
  { records, reached }: Pick<Replayed, "records" | "reached">,
): Disposable {
  if (!stream.isTTY) return { [Symbol.dispose]() {} };
  const timer = setInterval(() => {
    const at = reached() === 0 ? "" : `, as of ${new Date(reached()).toISOString()}`;
    stream.write(`\r\x1b[K${records()} records${at}`);
  }, 250).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      stream.write("\r\x1b[K");
    },
  };
}
