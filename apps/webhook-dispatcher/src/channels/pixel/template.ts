import { templateProblem } from "@sluice/link-store/targets/pixel-macros.ts";
import { ChannelSettingsError } from "../settings-error.ts";

/** A URL with macros: its fixed pieces, and the names between them. */
export interface Template {
  readonly pieces: readonly string[];
  readonly names: readonly string[];
}

/** Throws a `ChannelSettingsError` for what the link store would not take either. */
export function parseTemplate(url: string): Template {
  const takes = templateProblem(url) ?? (URL.canParse(startOf(url)) ? undefined : "a URL");
  if (takes !== undefined) {
    throw new ChannelSettingsError([{ field: "url", takes, got: `a text of ${url.length} characters` }]);
  }
  const parts = url.split(/\{([^{}]*)\}/);
  return {
    pieces: parts.filter((_, at) => at % 2 === 0),
    names: parts.filter((_, at) => at % 2 === 1),
  };
}

/** What stands before the first macro: the host, and some more. */
export function startOf(url: string): string {
  const [start = ""] = url.split("{", 1);
  return start;
}

/** Each macro by its value, percent-encoded. */
export function fillTemplate({ pieces, names }: Template, values: Readonly<Record<string, string>>): string {
  const filled = names.map((name) => encodeURIComponent(pathless(values[name] ?? "")));
  return pieces.map((piece, at) => piece + (filled[at] ?? "")).join("");
}

/** In a path `.` and `..` lead elsewhere, percent-encoded too. */
function pathless(value: string): string {
  return /^\.{1,2}$/.test(value) ? "" : value;
}
