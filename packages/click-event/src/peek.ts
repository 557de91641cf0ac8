/** As `JSON.stringify` writes it. Not to be found in a text, where each quote has a backslash before it. */
const field = Buffer.from('"workspace_id":');
const [zero = 0, nine = 0, comma, brace] = Buffer.from("09,}");
/** Of the widest id, and one more. */
const maxDigits = 11;

/**
 * The workspace that an encoded click is of, without decoding it: a thousandth of the cost. `undefined` where that cannot
 * be told, as for anything that is no click or that is written in another way: decode it. Believe it only as far as to
 * leave a record alone.
 */
export function peekWorkspace(bytes: Uint8Array): number | undefined {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = record.indexOf(field);
  if (at < 0) return undefined;
  let id = 0;
  for (let digit = at + field.length; digit < at + field.length + maxDigits; digit += 1) {
    const byte = record[digit];
    if (byte === comma || byte === brace) return id;
    if (byte === undefined || byte < zero || byte > nine) return undefined;
    id = id * 10 + byte - zero;
  }
  return undefined;
}
