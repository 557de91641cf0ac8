import { limits } from "@sluice/click-event/click-event.ts";

/** `de-CH` of `de-CH,de;q=0.9`: the language that a browser asks for first, or empty. Plain characters only. */
export function firstLanguage(accepted: string): string {
  let end = 0;
  while (end < limits.language && isTagCharacter(accepted.charCodeAt(end))) end += 1;
  return accepted.slice(0, end);
}

/** Letters, digits and the hyphen (RFC 5646). */
function isTagCharacter(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2d;
}
