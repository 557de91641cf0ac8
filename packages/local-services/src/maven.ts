import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { LocalServiceError } from "./error.ts";

const run = promisify(execFile);

export interface Jar {
  readonly group: string;
  readonly artifact: string;
  readonly version: string;
  /** A group whose jars are left out, of all that it would bring. */
  readonly without?: string;
}

/** Puts these jars and all that they need into `<directory>/libs`. Rejects with `missing` where it cannot. */
export async function fetchJars(service: string, directory: string, jars: readonly Jar[]): Promise<void> {
  await writeFile(join(directory, "pom.xml"), pom(service, jars));
  const goal = [
    "dependency:copy-dependencies",
    "-DincludeScope=runtime",
    `-DoutputDirectory=${directory}/libs`,
  ];
  try {
    await run("mvn", ["-q", "-B", "-f", directory, ...goal], { timeout: 600_000 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const firstLines = why.split("\n").slice(0, 5).join("\n");
    throw new LocalServiceError("missing", `${service}: Maven cannot fetch it: ${firstLines}`, { cause });
  }
}

function pom(service: string, jars: readonly Jar[]): string {
  const dependencies = jars.map(
    ({ group, artifact, version, without }) => `
    <dependency>
      <groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>${
        without === undefined
          ? ""
          : `
      <exclusions><exclusion><groupId>${without}</groupId><artifactId>*</artifactId></exclusion></exclusions>`
      }
    </dependency>`,
  );
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice</groupId><artifactId>${service}</artifactId><version>1</version>
  <dependencies>${dependencies.join("")}
  </dependencies>
</project>
`;
}
