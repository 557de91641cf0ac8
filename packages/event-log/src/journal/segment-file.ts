import { ftruncateSync, openSync, writeSync } from "node:fs";

/** A segment while its writer has it open. Everything here is synchronous: it happens before an answer goes out. */
export class SegmentFile {
  readonly fd: number;
  /** Bytes of whole records; a reader may believe them all. */
  #bytes = 0;
  /** True when the file may end in part of a record that could not be cut off; nothing may follow it. */
  #spoilt = false;

  /** Throws the file system's error; a file of that name must not exist. */
  constructor(path: string) {
    this.fd = openSync(path, "ax", 0o640);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get spoilt(): boolean {
    return this.#spoilt;
  }

  /**
   * Appends the first `length` bytes of `source`, in one call where the disk lets it. Says how many were taken,
   * and why not all of them.
   */
  append(source: Buffer, length: number): { taken: number; error?: unknown } {
    let taken = 0;
    try {
      while (taken < length) taken += writeSync(this.fd, source, taken, length - taken);
      return { taken };
    } catch (error) {
      return { taken, error };
    } finally {
      this.#bytes += taken;
    }
  }

  /** Cuts off the last `bytes` bytes: the part of a record that found no room. */
  cut(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes -= bytes;
    try {
      ftruncateSync(this.fd, this.#bytes);
    } catch {
      this.#spoilt = true;
    }
  }
}
