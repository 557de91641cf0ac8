/**
 * Appends to a URL's query, before its `#`. What the URL has already stays byte for byte, also a name that comes
 * again or a value that is empty. `query` is encoded and without its question mark.
 */
export function appendQuery(url: string, query: string): string {
  if (query === "") return url;
  const hash = url.indexOf("#");
  const base = hash < 0 ? url : url.slice(0, hash);
  const mark = base.indexOf("?");
  const joint = mark < 0 ? "?" : mark === base.length - 1 || base.endsWith("&") ? "" : "&";
  return `${base}${joint}${query}${hash < 0 ? "" : url.slice(hash)}`;
}

/** Ours: the mark of a QR code, and the click's id on its way to the destination. */
const reserved = new Set(["qr", "sluice_id"]);

const printable = /^[\x21-\x7e]*$/;

/** Of a visitor's query what may be passed on, as it came. Nothing of one that a Location header could not hold. */
export function passable(query: string): string {
  const end = query.indexOf("#");
  const sent = end < 0 ? query : query.slice(0, end);
  if (sent === "" || !printable.test(sent)) return "";
  return sent
    .split("&")
    .filter((pair) => !reserved.has(nameOf(pair)))
    .join("&");
}

/** The names in a URL's query, in lower case. */
export function namesIn(url: string): ReadonlySet<string> {
  const [base = ""] = url.split("#", 1);
  const mark = base.indexOf("?");
  return new Set(
    mark < 0
      ? []
      : base
          .slice(mark + 1)
          .split("&")
          .map(nameOf),
  );
}

function nameOf(pair: string): string {
  const equals = pair.indexOf("=");
  return (equals < 0 ? pair : pair.slice(0, equals)).toLowerCase();
}
