/**
 * A text that an event can hold: at most `max` UTF-16 units, never ending in half a character, and well-formed
 * (stray halves of surrogate pairs become U+FFFD).
 */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const splits = isHighSurrogate(text.charCodeAt(max - 1)) && isLowSurrogate(text.charCodeAt(max));
  return text.slice(0, splits ? max - 1 : max).toWellFormed();
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
