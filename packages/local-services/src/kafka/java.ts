import { existsSync } from "node:fs";
import { join } from "node:path";

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
