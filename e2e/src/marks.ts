/** A set of small positive integers: two million of them in a quarter of a megabyte. */
export class Marks {
  #bits = new Uint8Array(1 << 16);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns false when it was there already. */
  add(mark: number): boolean {
    const index = mark >>> 3;
    while (index >= this.#bits.length) {
      const grown = new Uint8Array(this.#bits.length * 2);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    if (this.has(mark)) return false;
    this.#bits[index] = (this.#bits[index] ?? 0) | (1 << (mark & 7));
    this.#size += 1;
    return true;
  }

  has(mark: number): boolean {
    return ((this.#bits[mark >>> 3] ?? 0) & (1 << (mark & 7))) !== 0;
  }

  /** Those that the other set lacks, in order. */
  *missingFrom(other: Marks): Generator<number> {
    for (let mark = 0; mark < this.#bits.length * 8; mark += 1)
      if (this.has(mark) && !other.has(mark)) yield mark;
  }
}
