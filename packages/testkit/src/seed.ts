import { given } from "./config.ts";

/** What a test's random choices depend on; set SLUICE_TEST_SEED to the number that a failure names. */
export const testSeed = Number(given.seed ?? Date.now() % 1_000_000);

/** Numbers in [0, 1) that depend on the seed alone: xorshift (Marsaglia, 2003) on 32 bits. */
export function seeded(seed: number): () => number {
  // Zero is the one state it never leaves.
  let state = (seed ^ 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
