import { ChannelSettingsError } from "../settings-error.ts";

/** A URL with macros: fixed pieces, and the names between them. */
export interface Template {
  readonly pieces: readonly string[];
  readonly names: readonly string[];
  /** Where it goes, whatever the macros say. */
  readonly origin: string;
}

/** Throws a `ChannelSettingsError` for what is no URL, for a macro that there is not, and for one before the path. */
export function parseTemplate(url: string, macros: readonly string[]): Template {
  const parts = url.split(/\{([^{}]*)\}/);
  const pieces = parts.filter((_, at) => at % 2 === 0);
  const names = parts.filter((_, at) => at % 2 === 1);
  const unknown = names.find((name) => !macros.includes(name));
  if (unknown !== undefined) {
    throw wrong(`the macros ${macros.map((name) => `{${name}}`).join(", ")}`, `{${unknown.slice(0, 40)}}`);
  }
  const [start = ""] = pieces;
  const { origin = "null" } = URL.parse(start) ?? {};
  // Nothing that a visitor can choose may choose the host: it has ended before the first macro.
  if (origin === "null" || (names.length > 0 && !/^[a-z]+:\/\/[^/?#]+[/?#]/i.test(start))) {
    throw wrong("an address with its macros after the host", `${url.length} characters of something else`);
  }
  return { pieces, names, origin };
}

/** Each macro by its value, percent-encoded. */
export function fillTemplate({ pieces, names }: Template, values: Readonly<Record<string, string>>): string {
  return fill(pieces, (at) => encodeURIComponent(pathless(values[names[at] ?? ""] ?? "")));
}

/** In a path `.` and `..` lead elsewhere, percent-encoded too. */
function pathless(value: string): string {
  return /^\.{1,2}$/.test(value) ? "" : value;
}

function fill(pieces: readonly string[], value: (at: number) => string): string {
  return pieces.map((piece, at) => (at === pieces.length - 1 ? piece : piece + value(at))).join("");
}

function wrong(takes: string, got: string): ChannelSettingsError {
  return new ChannelSettingsError([{ field: "url", takes, got }]);
}
