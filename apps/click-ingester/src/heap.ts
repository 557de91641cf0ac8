import { setFlagsFromString } from "node:v8";

/**
 * Keeps the heap near to what is in use. V8's own rules are for processes with a machine to themselves: with them
 * an ingester that catches up has 450 MB resident for some 70 MB in use, with these 230 MB. It costs a sixth of the
 * speed of a catch-up, and nothing otherwise. Only rules of thumb are changed, which V8 reads at each collection.
 */
export function keepHeapSmall(): void {
  // Room for new objects stays what it is at the start; by default it grows to 64 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  // The next full collection comes when old objects take half as much again; by default up to four times as much.
  setFlagsFromString("--heap-growing-percent=50");
}
