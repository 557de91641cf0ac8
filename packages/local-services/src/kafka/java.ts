import { existsSync } from "node:fs";
import { join } from "node:path";

export function classPath(home: string): string[] {
  return ["-cp", `${home}/libs/*`];
}

/** Classes as an earlier run loaded them; made by this Java for these jars, or Java passes it over. */
export function classArchive(home: string): string {
  return join(home, "classes.jsa");
}

/** What every fresh node begins with. */
export function bootstrap(home: string): string {
  return join(home, "bootstrap.checkpoint");
}

export function archiveOption(home: string): string[] {
  return existsSync(classArchive(home)) ? [`-XX:SharedArchiveFile=${classArchive(home)}`] : [];
}

export function toProperties(properties: Record<string, string | number | boolean>): string {
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  // In a properties file a backslash begins an escape; directories may have one in their name.
  return lines.join("").replaceAll("\\", "\\\\");
}
