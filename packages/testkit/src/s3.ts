import { randomBytes } from "node:crypto";

import { startS3 } from "@sluice/local-services/s3.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";

import { given } from "./config.ts";
import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

export interface TestS3 extends AsyncDisposable {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  readonly bucket: string;
  /** Nobody else's objects begin with it. */
  readonly prefix: string;
  /** Under the names that every program takes them by. */
  readonly keys: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  /** Where the server was started for this call, which may then do to it what it likes. */
  readonly server?: LocalServer;
}

/** An S3 for a test: `S3_URL`, as `http://key:secret@host:port/bucket`, else a server of its own. */
export async function testS3(): Promise<TestS3> {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  if (given.s3 !== undefined) {
    const { origin, username, password, pathname } = new URL(given.s3);
    const keys = { AWS_ACCESS_KEY_ID: username, AWS_SECRET_ACCESS_KEY: password };
    return { url: origin, bucket: pathname.slice(1), prefix, keys, async [Symbol.asyncDispose]() {} };
  }
  return await provide<TestS3>(
    "S3",
    async () => {
      await using stack = new AsyncDisposableStack();
      const { path: dataDir } = stack.use(await tempDir());
      const bucket = "archive";
      const [accessKeyId, secretAccessKey] = ["test-key", randomBytes(16).toString("hex")];
      const server = stack.use(
        await startS3({ dataDir, bucket, accessKeyId, secretAccessKey, log: silentLog }),
      );
      const opened = stack.move();
      return {
        url: server.url,
        bucket,
        prefix,
        keys: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
        server,
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
    () => Promise.reject(new Error("it has to be on this machine")),
  );
}
