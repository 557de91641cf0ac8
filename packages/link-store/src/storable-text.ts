/** What Postgres takes as text, of at most `maxBytes`: a receiver's words may hold anything. */
export function storableText(text: string, maxBytes: number): string {
  // Half a character at the end becomes one of three bytes.
  return Buffer.from(text.replaceAll("\0", ""))
    .subarray(0, maxBytes - 2)
    .toString();
}
