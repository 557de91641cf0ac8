/** 0 up to 1, the same sequence for the same seed: two runs of a benchmark measure the same work. */
export type Random = () => number;

/** A 32-bit generator by an additive counter and two rounds of multiply and shift: plenty for choosing test data. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}

/** Each equally often. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return at(items, Math.floor(random() * items.length));
}

/** The first ones far more often than the last, as with links and browsers: a fifth of the picks are among the first 1 %. */
export function pickSkewed<T>(random: Random, items: readonly T[]): T {
  return at(items, Math.floor(random() ** 3 * items.length));
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error("there is nothing to choose from");
  return item;
}
