/** Something that is encoded, and what it stands for. */
export interface Encoded<T> {
  readonly of: T;
  readonly text: string;
}

/**
 * In their order, as few batches as go with at most `maxCount` of them and less than `maxBytes` of text, a comma after
 * each. One that alone has too many bytes is in a batch of its own: nobody's events are near a limit, so that the
 * receiver may say so.
 */
export function batchesOf<T>(
  items: readonly Encoded<T>[],
  { maxCount, maxBytes }: { readonly maxCount: number; readonly maxBytes: number },
): Encoded<T>[][] {
  const batches: Encoded<T>[][] = [];
  let batch: Encoded<T>[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = Buffer.byteLength(item.text) + 1;
    if (batch.length === maxCount || bytes + more >= maxBytes) batch = [];
    if (batch.length === 0) {
      batches.push(batch);
      bytes = 0;
    }
    batch.push(item);
    bytes += more;
  }
  return batches;
}
