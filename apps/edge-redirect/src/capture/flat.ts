/**
 * The same text in one piece. V8 keeps a text that was put together as its pieces, and gathers them anew each time
 * that it is written as a part of another: worth it for what is written again and again.
 */
export function flat(text: string): string {
  return Buffer.from(text).toString();
}
