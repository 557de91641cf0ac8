/** The first `max` UTF-16 units of a text as well-formed Unicode: never half a surrogate pair at the end, or anywhere. */
export function clip(text: string, max: number): string {
  const cut = text.length > max ? text.slice(0, max) : text;
  if (cut.isWellFormed()) return cut;
  const last = cut.charCodeAt(cut.length - 1);
  const whole = last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut;
  return whole.toWellFormed();
}
