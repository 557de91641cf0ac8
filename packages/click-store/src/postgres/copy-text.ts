import type { Value } from "../body.ts";

/** A row as COPY's text format has it, without its line break. */
export function toCopyText(values: readonly Value[]): string {
  return values.map(toField).join("\t");
}

function toField(value: Value): string {
  if (typeof value === "string") return escape(value);
  return typeof value === "object" ? escape(toJson(value)) : String(value);
}

function escape(text: string): string {
  return special.test(text) ? text.replace(eachSpecial, (character) => escapes[character] ?? "") : text;
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  // Postgres has no such character.
  "\0": "\ufffd",
};
const special = /[\\\n\r\t\0]/;
const eachSpecial = new RegExp(special, "g");

/** What Postgres refuses as an escape in JSON: the character 0, and a surrogate without its other half. */
function toJson(value: object): string {
  const text = JSON.stringify(value);
  return /\\u(?:0000|d)/.test(text) ? JSON.stringify(value, repair) : text;
}

function repair(_key: string, value: unknown): unknown {
  return typeof value === "string" ? toStorable(value) : value;
}

/** The text with U+FFFD for what no text of Postgres can hold. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
