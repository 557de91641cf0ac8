const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/**
 * The partition of a key, for ever the same while the number of partitions is. The hash is murmur2 over the key's
 * UTF-8 bytes, its sign bit dropped, as Java's clients have it: what other tools write lands beside ours. (The
 * driver's own takes microseconds a key.)
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
}

function murmur2(bytes: Buffer): number {
  const whole = bytes.length - (bytes.length % 4);
  let hash = seed ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    const mixed = Math.imul(bytes.readInt32LE(at), multiplier);
    hash = Math.imul(hash, multiplier) ^ Math.imul(mixed ^ (mixed >>> 24), multiplier);
  }
  if (whole < bytes.length) {
    hash ^= bytes.readUIntLE(whole, bytes.length - whole);
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}
