let last = 0;

/**
 * A number that no reader of this process has had before. What a reader remembers dies with its process, so an
 * epoch need not be unique beyond it.
 */
export function nextEpoch(): number {
  last += 1;
  return last;
}
