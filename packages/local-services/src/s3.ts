import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { classPath, toProperties } from "./java.ts";
import { prepareServer } from "./prepare-server.ts";
import { s3Version } from "./s3/config.ts";
import { fetchS3 } from "./s3/fetch.ts";
import { launch, type LocalServer } from "./server.ts";

export interface S3Options {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /** The only key that it takes. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Made if need be. */
  readonly bucket: string;
  readonly log: Log;
}

/**
 * Starts S3Proxy on the loopback interface: S3's protocol, with its signatures, over files. The same data directory and
 * port may be given again after the server has ended. Rejects with a LocalServiceError: `missing` where there is no Java
 * 17, or no Maven for the first time's download.
 */
export async function startS3(options: S3Options): Promise<LocalServer> {
  const home = await fetchS3();
  const own = await prepareServer({
    name: "s3",
    dataDir: options.dataDir,
    version: s3Version,
    port: options.port,
    stopSignal: "SIGTERM",
    stopWithinMs: 10_000,
    log: options.log,
  });
  const { dataDir, port } = own;
  const url = `http://127.0.0.1:${port}`;
  const buckets = join(dataDir, "buckets");
  await mkdir(join(buckets, options.bucket), { recursive: true });
  const settings = {
    "s3proxy.endpoint": url,
    "s3proxy.authorization": "aws-v2-or-v4",
    "s3proxy.identity": options.accessKeyId,
    "s3proxy.credential": options.secretAccessKey,
    "jclouds.provider": "filesystem-nio2",
    "jclouds.filesystem.basedir": buckets,
    "jclouds.identity": "none",
    "jclouds.credential": "none",
  };
  await writeFile(join(dataDir, "s3.properties"), toProperties(settings), { mode: 0o600 });
  await writeFile(join(dataDir, "logback.xml"), logSettings);
  return await launch({
    ...own,
    command: [
      "java",
      "-Xmx128m",
      "-XX:+UseSerialGC",
      "-XX:TieredStopAtLevel=1",
      `-Dlogback.configurationFile=${dataDir}/logback.xml`,
      ...classPath(home),
      "org.gaul.s3proxy.Main",
      "--properties",
      `${dataDir}/s3.properties`,
    ],
    url,
    startWithinMs: 60_000,
    ready: (signal) => fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) }),
  });
}

const logSettings = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`;
