import { type FileHandle, open } from "node:fs/promises";
import { type Parsed, headerBytes, nextCandidate, parseRecord } from "./record.ts";

/** How much is read at a time. Records handed out keep their chunk alive. */
const chunkBytes = 1024 * 1024;

/**
 * A chunk that was read into but not handed out, so that polling an idle file allocates nothing. Shared by all
 * segments of one reader, which are read one after the other.
 */
export interface Spare {
  buffer?: Buffer<ArrayBuffer> | undefined;
}

const nothing = Buffer.alloc(0);

/** Reads one segment, which its writer may still be appending to. Not for concurrent use. */
export class SegmentReader implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #seed: number;
  readonly #spare: Spare;
  #chunk: Buffer = nothing;
  #key = "";
  #keyBytes: Buffer = nothing;
  /** Where in the file the chunk begins. */
  #chunkAt: number;
  #at = 0;

  private constructor(file: FileHandle, offset: number, seed: number, spare: Spare) {
    this.#file = file;
    this.#chunkAt = offset;
    this.#seed = seed;
    this.#spare = spare;
  }

  /** Rejects with the file system's error; ENOENT when the segment was deleted. */
  static async open(path: string, offset: number, seed: number, spare: Spare): Promise<SegmentReader> {
    return new SegmentReader(await open(path, "r"), offset, seed, spare);
  }

  /** The byte of the file that is parsed next. */
  get offset(): number {
    return this.#chunkAt + this.#at;
  }

  /** True when something stands at the offset. */
  get hasBytes(): boolean {
    return this.#chunk.length > this.#at;
  }

  /** What stands at the offset in what has been read so far. Its positions are those of the chunk. */
  parse(): Parsed {
    return parseRecord(this.#chunk, this.#at, this.#chunk.length, this.#seed);
  }

  /** The key of what `parse` has found, and the chunk that its positions are those of. */
  contents({ keyEnd }: { keyEnd: number }): { key: string; chunk: Buffer } {
    const chunk = this.#chunk;
    const from = this.#at + headerBytes;
    // Mostly that of the record before it.
    if (chunk.compare(this.#keyBytes, 0, this.#keyBytes.length, from, keyEnd) !== 0) {
      this.#keyBytes = Buffer.from(chunk.subarray(from, keyEnd));
      this.#key = this.#keyBytes.toString();
    }
    return { key: this.#key, chunk };
  }

  /** Moves behind what `parse` has found. */
  pass(record: { end: number }): void {
    this.#at = record.end;
  }

  /**
   * Reads on from the offset. Always from the file: what stood behind the last whole record may have been cut
   * off and written anew. True when at least `needs` bytes are there.
   */
  async fill(needs: number): Promise<boolean> {
    this.seek(this.offset);
    const buffer = needs > chunkBytes ? Buffer.allocUnsafeSlow(needs) : this.#takeSpare();
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#chunkAt);
    if (bytesRead < buffer.length / 2) {
      // Little: copy it out, so that a record does not keep a whole chunk in memory.
      this.#chunk = bytesRead === 0 ? nothing : Buffer.from(buffer.subarray(0, bytesRead));
      if (buffer.length === chunkBytes) this.#spare.buffer = buffer;
    } else {
      this.#chunk = buffer.subarray(0, bytesRead);
    }
    return bytesRead >= needs;
  }

  seek(offset: number): void {
    this.#chunk = nothing;
    this.#chunkAt = offset;
    this.#at = 0;
  }

  /** Where the next whole record begins behind the offset, reading to the end of the file if need be. */
  async findNext(): Promise<number | undefined> {
    const buffer = this.#takeSpare();
    try {
      for (let from = this.offset + 1; ;) {
        const { bytesRead } = await this.#file.read(buffer, 0, chunkBytes, from);
        if (bytesRead < headerBytes) return undefined;
        let at = nextCandidate(buffer, 0, bytesRead);
        for (; at >= 0; at = nextCandidate(buffer, at + 1, bytesRead)) {
          const parsed = parseRecord(buffer, at, bytesRead, this.#seed);
          if (parsed.kind === "record" || parsed.kind === "closing") return from + at;
          if (parsed.kind === "incomplete" && (await this.isWhole(from + at, parsed.needs))) return from + at;
        }
        // The last bytes may be the beginning of a header.
        from += bytesRead - headerBytes + 1;
      }
    } finally {
      if (buffer.length === chunkBytes) this.#spare.buffer = buffer;
    }
  }

  /** True when a whole record stands there in the file, of `needs` bytes as far as one knows. */
  async isWhole(offset: number, needs = headerBytes): Promise<boolean> {
    const buffer = Buffer.allocUnsafe(needs);
    const { bytesRead } = await this.#file.read(buffer, 0, needs, offset);
    const parsed = parseRecord(buffer, 0, bytesRead, this.#seed);
    if (parsed.kind === "incomplete")
      return bytesRead === needs && (await this.isWhole(offset, parsed.needs));
    return parsed.kind !== "invalid";
  }

  /** Bytes behind the offset that are no whole record. */
  async leftover(): Promise<number> {
    return Math.max(0, (await this.#file.stat()).size - this.offset);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#chunk = nothing;
    await this.#file.close();
  }

  #takeSpare(): Buffer<ArrayBuffer> {
    const buffer = this.#spare.buffer ?? Buffer.allocUnsafeSlow(chunkBytes);
    this.#spare.buffer = undefined;
    return buffer;
  }
}
