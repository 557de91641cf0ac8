/** How the command line says what it has a program read again; it has checked them. */
export const timeOptions = {
  from: { type: "string" },
  to: { type: "string" },
  rate: { type: "string" },
} as const;

/** In ms since 1970, from the first up to but not with the second; records a second. All of it, and as fast as can be, where nothing is said. */
export function timeOf({
  from = "0",
  to = "Infinity",
  rate = "Infinity",
}: Partial<Record<keyof typeof timeOptions, string>>) {
  return { from: Number(from), to: Number(to), rate: Number(rate) };
}
