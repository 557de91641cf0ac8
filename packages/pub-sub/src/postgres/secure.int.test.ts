import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { makeCertificates } from "@sluice/testkit/certificates.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { provide } from "@sluice/testkit/provide.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";
import { openPubSub } from "../open.ts";

async function openSecure() {
  await using stack = new AsyncDisposableStack();
  const certificates = makeCertificates(stack.use(await tempDir()).path);
  const { cert, key } = certificates.save("server", certificates.sign("127.0.0.1"));
  const settings = { ssl: "on", ssl_cert_file: cert, ssl_key_file: key };
  const { path: dataDir } = stack.use(await tempDir());
  const server = stack.use(await startPostgres({ dataDir, settings, log: silentLog }));
  const opened = stack.move();
  return {
    url: `${server.url}?sslmode=verify-full&sslrootcert=${certificates.caPath}`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith(
  "messages by Postgres behind TLS",
  () => provide("Postgres", openSecure, () => Promise.reject(new Error("this server is made here"))),
  (server) => {
    it("come, on the connection's own socket", async () => {
      await using messages = await openPubSub(server().url, { log: silentLog, metrics: createMetrics() });
      const { signal } = new AbortController();
      const heard = messages.subscribe("news", { signal })[Symbol.asyncIterator]();
      // Heard from now on.
      expect(await heard.next()).toMatchObject({ value: { kind: "gap" } });
      await messages.publish("news", "a click");
      expect(await heard.next()).toMatchObject({ value: { kind: "message", message: "a click" } });
    });
  },
);
