/**
 * The text with everything escaped that a terminal might obey or that hides what is there: control characters, those that
 * turn the direction of writing, line ends. JSON stays the same JSON.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from(
      { length: found.length },
      (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
