import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import type { Log } from "@sluice/service/log.ts";
import { maskFields } from "@sluice/service/mask.ts";

/** Where whole lines go. Many write to it; nobody's line is broken by another's. */
export interface Output {
  /** For what this process itself has to say. */
  log(name: string): Log;
  /** Passes on what a child prints, line by line, under its name, until the stream ends. */
  passOn(name: string, stream: Readable): void;
  /** Prints a text as it is. */
  print(text: string): void;
}

/** `write` gets one or more whole lines at a time. */
export function createOutput(write: (lines: string) => void): Output {
  const print = (lines: string) => write(`${lines}\n`);
  function say(name: string, level: string, fields: object, msg: string): void {
    print(readable(name, { ...maskFields(fields), level, time: new Date().toISOString(), msg }));
  }
  return {
    log: (name) => ({
      // What a service does not say by default either.
      debug() {},
      info: (fields, message) => say(name, "info", fields, message),
      warn: (fields, message) => say(name, "warn", fields, message),
      error: (fields, message) => say(name, "error", fields, message),
    }),
    passOn(name, stream) {
      createInterface({ input: stream }).on("line", (line) => print(readable(name, parse(line))));
    },
    print,
  };
}

const longestName = "click-ingester".length;
/** What stands at the beginning of the line, or is the same in all of them. */
const notFields = new Set(["level", "time", "pid", "hostname", "name", "msg"]);

/** `12:00:00.000 click-ingester  info  message key=value`, and the stack of an error below it. */
function readable(name: string, line: Readonly<Record<string, unknown>>): string {
  const { level = "", time = new Date().toISOString(), msg = "" } = line;
  const stacks: string[] = [];
  const fields = Object.entries(line)
    .filter(([key]) => !notFields.has(key))
    .map(([key, value]) => ` ${key}=${shown(value, stacks)}`);
  const begin = [String(time).slice(11, 23), name.padEnd(longestName), String(level).padEnd(5)].join(" ");
  return [`${begin} ${String(msg)}${fields.join("")}`, ...stacks].join("\n");
}

/** An error is its message here, and its stack goes below. */
function shown(value: unknown, stacks: string[]): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "message" in value && "stack" in value) {
    stacks.push(String(value.stack).replaceAll(/^/gm, "  "));
    return String(value.message);
  }
  return JSON.stringify(value);
}

/** A line of a service's log, or any other. */
function parse(line: string): Record<string, unknown> {
  if (!line.startsWith("{")) return { msg: line };
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : { msg: line };
  } catch {
    return { msg: line };
  }
}
