// Gets S3Proxy from Maven: `node packages/local-services/src/s3/fetch.ts`
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { checkJava } from "../java.ts";
import { fetchJars } from "../maven.ts";
import { s3Home, s3Version } from "./config.ts";

/**
 * Resolves to the directory whose `libs` has its jars, 30 MB. Gets them the first time, in a quarter of a minute.
 * Rejects with `missing` where Java 17 or Maven is.
 */
export async function fetchS3(): Promise<string> {
  await checkJava("s3");
  if (existsSync(s3Home)) return s3Home;
  await mkdir(dirname(s3Home), { recursive: true });
  // Whole or not at all; two at once do no harm.
  const unfinished = await mkdtemp(`${s3Home}.`);
  try {
    // Without the clients of a cloud that it may stand before.
    const without = "com.azure";
    await fetchJars("s3", unfinished, [
      { group: "org.gaul", artifact: "s3proxy", version: s3Version, without },
    ]);
    await rename(unfinished, s3Home);
  } catch (error) {
    if (!existsSync(s3Home)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return s3Home;
}

if (import.meta.main) process.stdout.write(`${await fetchS3()}\n`);
