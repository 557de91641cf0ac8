import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { LocalServiceError } from "./error.ts";

const run = promisify(execFile);

/** Rejects with `missing` where there is no Java 17 or newer. */
export async function checkJava(service: string): Promise<void> {
  let output: string;
  try {
    output = (await run("java", ["-version"])).stderr;
  } catch (cause) {
    throw new LocalServiceError(
      "missing",
      `${service}: Java 17 or newer is needed, and there is no java on the path`,
      { cause },
    );
  }
  const major = Number(/version "(\d+)/.exec(output)?.[1]);
  if (!(major >= 17)) {
    throw new LocalServiceError(
      "missing",
      `${service}: Java 17 or newer is needed, and here is ${output.split("\n")[0]}`,
    );
  }
}

/** The jars that `fetchJars` has put there. */
export function classPath(home: string): string[] {
  return ["-cp", `${home}/libs/*`];
}

export function toProperties(properties: Record<string, string | number | boolean>): string {
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  // In a properties file a backslash begins an escape; directories may have one in their name.
  return lines.join("").replaceAll("\\", "\\\\");
}
