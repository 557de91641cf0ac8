/** How far something has come. Disposing takes it off the terminal. */
export interface Progress extends Disposable {
  advance(steps: number): void;
}

const width = 30;
/** Faster than an eye follows. */
const drawEveryMs = 100;

/** On standard error, beside the result. */
export function showProgress(total: number): Progress {
  return createProgress(process.stderr, total);
}

/** A bar on a terminal that is drawn over in place; nothing at all elsewhere. */
export function createProgress(
  stream: { readonly isTTY: boolean; write(text: string): unknown },
  total: number,
): Progress {
  let done = 0;
  let drawnAt = -Infinity;
  return {
    advance(steps) {
      done += steps;
      const now = performance.now();
      if (!stream.isTTY || now - drawnAt < drawEveryMs) return;
      drawnAt = now;
      const share = Math.min(1, done / Math.max(1, total));
      const bar = "#".repeat(Math.round(share * width)).padEnd(width, ".");
      stream.write(`\r\x1b[K[${bar}] ${done} of ${total}`);
    },
    [Symbol.dispose]() {
      if (drawnAt > -Infinity) stream.write("\r\x1b[K");
    },
  };
}
