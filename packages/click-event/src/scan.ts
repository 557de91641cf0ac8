import { isUtf8 } from "node:buffer";
import { ClickEvent, limits } from "./click-event.ts";
import { type Bytes, compileFields, type Field, type Group, type Shape } from "./scan-fields.ts";

const { root: click, paths } = compileFields(ClickEvent);

const [quote, backslash, slash, comma, brace, endBrace, zero = 0, space = 0] = Buffer.from('"\\/,{}0 ');
const yesBytes = Buffer.from("true");
const noBytes = Buffer.from("false");
/** Of the largest number that is exact. */
const maxDigits = 16;

/**
 * Where the fields of a click stand in its record, by their path (`slug`, `utm.source`); each has a number. Held until
 * the next record is read.
 */
export class ClickScanner {
  /** The record. */
  bytes: Buffer = Buffer.alloc(0);
  /** Of a text: where it begins and ends between its quotes, and how many backslashes escape a character in it. */
  readonly starts = new Uint32Array(paths.size);
  readonly ends = new Uint32Array(paths.size);
  readonly escapes = new Uint32Array(paths.size);
  /** Of a number; of `true` it is 1 and of `false` 0. */
  readonly numbers = new Float64Array(paths.size);
  /** Of a field that was there: the record's turn. */
  readonly #seen = new Float64Array(paths.size);
  #turn = 0;
  #at = 0;
  /** All bytes of texts, or-ed: above 127 when one was not ASCII. */
  #bits = 0;

  /**
   * Reads a record as an edge writes one: every field known and none twice, no space in between, no other escapes than
   * of quotes and slashes, each text's limit kept in bytes, too. True means that `decodeRecord` gives a click, and this one. False says nothing: ask
   * `decodeRecord`, which also knows why. Costs a third of it, and leaves nothing to be collected.
   */
  read(record: Uint8Array): boolean {
    const { length } = record;
    if (length > limits.recordBytes) return false;
    this.bytes = Buffer.isBuffer(record) ? record : Buffer.from(record.buffer, record.byteOffset, length);
    this.#turn += 1;
    this.#at = 0;
    this.#bits = 0;
    if (!this.#readObject(click) || this.#at !== length) return false;
    return this.#bits < 0x80 || isUtf8(record);
  }

  has(field: number): boolean {
    return this.#seen[field] === this.#turn;
  }

  number(field: number): number {
    return this.numbers[field] ?? 0;
  }

  text(field: number): string {
    const start = this.starts[field] ?? 0;
    const end = this.ends[field] ?? 0;
    if (start === end) return "";
    const text =
      this.#bits < 0x80 ? this.bytes.toString("latin1", start, end) : this.bytes.toString("utf8", start, end);
    return this.escapes[field] === 0 ? text : text.replaceAll(/\\(.)/g, "$1");
  }

  /** Whether a text is this one, of plain characters. */
  says(field: number, text: string): boolean {
    const start = this.starts[field] ?? 0;
    if ((this.ends[field] ?? 0) - start !== text.length) return false;
    for (let index = 0; index < text.length; index += 1)
      if (this.bytes[start + index] !== text.charCodeAt(index)) return false;
    return true;
  }

  #readObject(group: Group): boolean {
    const { bytes } = this;
    if (bytes[this.#at] !== brace) return false;
    this.#at += 1;
    let left = group.required;
    if (bytes[this.#at] === endBrace) {
      this.#at += 1;
      return left === 0;
    }
    for (let before: Group | Field = group; ;) {
      const field: Field | undefined = this.#readName(group, before);
      if (field === undefined || this.#seen[field.index] === this.#turn) return false;
      this.#seen[field.index] = this.#turn;
      if (!this.#readValue(field)) return false;
      if (field.required) left -= 1;
      const byte = bytes[this.#at];
      this.#at += 1;
      if (byte === endBrace) return left === 0;
      if (byte !== comma) return false;
      before = field;
    }
  }

  /** A field is mostly followed by the one that followed it the last time. */
  #readName(group: Group, before: Group | Field): Field | undefined {
    const { next } = before;
    if (next !== undefined && this.#isAt(next.name)) return next;
    for (const field of group.fields) {
      if (!this.#isAt(field.name)) continue;
      before.next = field;
      return field;
    }
    return undefined;
  }

  /** Moves behind the name if it is there. */
  #isAt(name: Bytes): boolean {
    const { bytes } = this;
    const at = this.#at;
    for (let index = 0; index < name.length; index += 1) if (bytes[at + index] !== name[index]) return false;
    this.#at = at + name.length;
    return true;
  }

  #readValue(field: Field): boolean {
    const { kind } = field;
    if (kind === "text") return this.#readText(field);
    if (kind === "shape") return this.#readShape(field);
    if (kind === "number") return this.#readNumber(field);
    return kind === "boolean" ? this.#readBoolean(field) : this.#readObject(field.group);
  }

  #readText({ index, least, most }: Field): boolean {
    const { bytes } = this;
    const { length } = bytes;
    let at = this.#at;
    if (bytes[at] !== quote) return false;
    at += 1;
    this.starts[index] = at;
    let escapes = 0;
    let bits = 0;
    for (; ; at += 1) {
      if (at >= length) return false;
      const byte = bytes[at] ?? 0;
      if (byte === quote) break;
      if (byte < space) return false;
      bits |= byte;
      if (byte === backslash) {
        at += 1;
        const escaped = bytes[at];
        if (escaped !== quote && escaped !== backslash && escaped !== slash) return false;
        escapes += 1;
      }
    }
    this.ends[index] = at;
    this.escapes[index] = escapes;
    this.#bits |= bits;
    this.#at = at + 1;
    const size = at - escapes - (this.starts[index] ?? 0);
    return size >= least && size <= most;
  }

  /** A text of plain characters, and of one length or empty. */
  #readShape({ index, shapes, least }: Field): boolean {
    const { bytes } = this;
    const start = this.#at + 1;
    if (bytes[start - 1] !== quote) return false;
    let end = start;
    if (least > 0 || bytes[start] !== quote) {
      for (const shape of shapes) if (fits(shape, bytes, start)) end = start + shape.length;
      if (end === start) return false;
    }
    if (bytes[end] !== quote) return false;
    this.starts[index] = start;
    this.ends[index] = end;
    this.escapes[index] = 0;
    this.#at = end + 1;
    return true;
  }

  #readNumber({ index, least, most, numbers }: Field): boolean {
    const { bytes } = this;
    const start = this.#at;
    let at = start;
    let number = 0;
    for (; ; at += 1) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    if (at === start || at - start > maxDigits) return false;
    if (bytes[start] === zero && at - start > 1) return false;
    this.numbers[index] = number;
    this.#at = at;
    return number >= least && number <= most && (numbers === undefined || numbers.includes(number));
  }

  #readBoolean({ index }: Field): boolean {
    const yes = this.#isAt(yesBytes);
    this.numbers[index] = yes ? 1 : 0;
    return yes || this.#isAt(noBytes);
  }
}

function fits(shape: Shape, bytes: Bytes, start: number): boolean {
  for (let index = 0; index < shape.length; index += 1)
    if (shape[index]?.[bytes[start + index] ?? 0xff] !== 1) return false;
  return true;
}

/** The number of a field by its path. */
export function fieldAt(path: string): number {
  const index = paths.get(path);
  if (index === undefined) throw new Error(`a click has no field ${path}`);
  return index;
}
