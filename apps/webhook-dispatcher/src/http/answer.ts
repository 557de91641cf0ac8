/** Those of an answer that somebody asks for. */
export function headersOf(
  all: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const some: Record<string, string> = {};
  for (const name in all) {
    if (!names.has(name) && !name.startsWith("ratelimit-")) continue;
    const value = all[name];
    const first = typeof value === "string" ? value : value?.[0];
    if (first !== undefined) some[name] = first;
  }
  return some;
}

const names = new Set(["retry-after", "location", "content-type", "content-encoding"]);

/**
 * A body as a person may read it, else nothing: what is no text, and what is compressed though we asked for it not to
 * be, for which a few bytes could stand for gigabytes.
 */
export function textOf(body: Buffer, headers: Readonly<Record<string, string>>): string {
  const { "content-type": type, "content-encoding": coding = "identity" } = headers;
  if (body.length === 0 || coding.toLowerCase() !== "identity" || body.includes(0)) return "";
  return type === undefined || textual.test(type) ? body.toString("utf8") : "";
}

const textual = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript|x-www-form-urlencoded)\b)/i;
