/**
 * The `for` of each element of a `Forwarded` header, in order: an address with or without a port, `unknown`, or a
 * name with an underscore; `unknown` where an element has none, because then its proxy did not say. A header that does not follow the syntax gives one element
 * that is no address, because what stands behind the fault could be a visitor's as well as a proxy's.
 *
 * RFC 7239, section 4: `for=192.0.2.60;proto=http, for="[2001:db8::1]:4711"`; tokens and quoted strings are those of
 * RFC 9110, 5.6.
 */
export function parseForwarded(header: string): readonly string[] {
  const elements: string[] = [];
  let hop: string | undefined;
  pair.lastIndex = 0;
  while (pair.lastIndex < header.length) {
    const [matched = "", name, token, quoted, end] = pair.exec(header) ?? [];
    if (matched === "") return ["malformed"];
    if (name?.toLowerCase() === "for") hop = token ?? quoted?.replaceAll(/\\(.)/g, "$1");
    else if (name !== undefined) hop ??= "unknown";
    if (end === ";" && pair.lastIndex < header.length) continue;
    // An empty element of a list counts for nothing (RFC 9110, 5.6.1).
    if (hop !== undefined) elements.push(hop);
    hop = undefined;
  }
  return elements;
}

/**
 * One `name=value`, or nothing, with the semicolon, the comma or the end behind it. The blanks may not be divided
 * between its two places for them, or a long row of them would take the square of its length.
 */
const pair =
  /[ \t]*(?![ \t])(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*(?![ \t])(;|,|$)/y;
