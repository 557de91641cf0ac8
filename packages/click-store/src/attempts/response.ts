const encoder = new TextEncoder();
const maxBytes = 1_024;

/** What both stores keep of an answer: at most 1 KiB in UTF-8 and no half of a character, without what no text can hold. */
export function cutResponse(text: string): string {
  const storable = text.slice(0, maxBytes).toWellFormed().replaceAll("\0", "\ufffd");
  const { read } = encoder.encodeInto(storable, new Uint8Array(maxBytes));
  return storable.slice(0, read);
}
