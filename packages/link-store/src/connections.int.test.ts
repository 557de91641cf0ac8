import { join } from "node:path";

import { startPgBouncer } from "@sluice/local-services/pgbouncer.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { type Log, silentLog } from "@sluice/service/log.ts";
import { makeCertificates } from "@sluice/testkit/certificates.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { provide } from "@sluice/testkit/provide.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

import { migrate } from "./migrate.ts";
import { openLinkStore } from "./open.ts";
import { openPostgres, patientConnectTimeoutMs } from "./postgres.ts";

const log = silentLog;
const noContainer = () => Promise.reject(new Error("these servers are made here"));

async function openSecure() {
  await using stack = new AsyncDisposableStack();
  const certificates = makeCertificates(stack.use(await tempDir()).path);
  const others = makeCertificates(stack.use(await tempDir()).path);
  const start = async (days: number) => {
    const { cert, key } = certificates.save(`server${days}`, certificates.sign("127.0.0.1", days));
    const settings = {
      ssl: "on",
      ssl_cert_file: cert,
      ssl_key_file: key,
      ssl_ca_file: certificates.caPath,
    };
    const { path: dataDir } = stack.use(await tempDir());
    return stack.use(await startPostgres({ dataDir, settings, log }));
  };
  const server = await start(2);
  const expired = await start(-1);
  const opened = stack.move();
  return {
    url: server.url,
    expired: expired.url,
    ca: certificates.caPath,
    otherCa: others.caPath,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** What an operator reads who has given this URL. */
async function refusal(url: string): Promise<string> {
  await using store = openLinkStore(url, { log });
  return await store.ping().then(
    () => "it answers",
    (error: unknown) => String(error),
  );
}

describeWith(
  "Postgres behind TLS",
  () => provide("Postgres", openSecure, noContainer),
  (servers) => {
    test("is used by an authority of its own, the host's name and all", async () => {
      const { url, ca } = servers();
      const secure = `${url}?sslmode=verify-full&sslrootcert=${ca}`;
      await migrate(secure, { log });
      await using opened = openPostgres(secure, log);
      const isSecure = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
      expect(await opened.query(isSecure, [])).toEqual([{ ssl: true }]);
    });

    test("that cannot be trusted is not talked to, and it is said what to mend", async () => {
      const { url, expired, ca, otherCa } = servers();
      const start = `${url}?sslmode=verify-full`;
      const untrusted = "give the path of the authority's certificate as sslrootcert in DATABASE_URL";
      expect(await refusal(start)).toContain(untrusted);
      expect(await refusal(`${start}&sslrootcert=${otherCa}`)).toContain(untrusted);
      expect(await refusal(`${expired}?sslmode=verify-full&sslrootcert=${ca}`)).toContain("has expired");
      const byName = `${start}&sslrootcert=${ca}`.replace("127.0.0.1", "localhost");
      expect(await refusal(byName)).toContain("use the name that is in it");
      expect(await refusal(`${start}&sslrootcert=/no/ca.pem`)).toContain("take paths of readable files");
      // Less than verify-full is not less: the driver checks all the same.
      expect(await refusal(`${url}?sslmode=require`)).toContain(untrusted);
    });

    test("with a wrong password says so and does not repeat it", async () => {
      const { url } = servers();
      const wrong = await refusal(url.replace(/:[^:@]+@/, ":wr0ng@"));
      expect(wrong).toContain("mend user and password in DATABASE_URL");
      expect(wrong).not.toContain("wr0ng");
    });
  },
);

async function openPooled() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const postgres = stack.use(await testPostgres());
  const start = (name: string, ignored: string) =>
    startPgBouncer({ dataDir: join(path, name), url: postgres.url, ignored, log });
  const pooler = stack.use(await start("pooler", "extra_float_digits, statement_timeout"));
  const strict = stack.use(await start("strict", "extra_float_digits"));
  const loose = stack.use(
    await start("loose", "extra_float_digits, statement_timeout, idle_in_transaction_session_timeout"),
  );
  const opened = stack.move();
  return {
    direct: postgres.url,
    pooled: pooler.url,
    strict: strict.url,
    loose: loose.url,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith(
  "Postgres behind a pooler by transactions",
  () => provide("PgBouncer", openPooled, noContainer),
  (servers) => {
    test("is not migrated through it: a lock would stay behind", async () => {
      const { direct, pooled, loose } = servers();
      await expect(migrate(pooled, { log })).rejects.toThrow("pooler");
      await expect(migrate(loose, { log })).rejects.toThrow("DATABASE_DIRECT_URL");
      await migrate(direct, { log });
    });

    test("serves links to many at once, though sessions change hands between statements", async () => {
      const { direct, pooled } = servers();
      await migrate(direct, { log });
      const said: string[] = [];
      const warning: Log = { ...silentLog, warn: (_, text) => said.push(text) };
      await using store = openLinkStore(pooled, { log: warning });
      await store.ensureDomain("go.example.com", "acme");
      const slugs = Array.from({ length: 16 }, (_, index) => `link-${index}`);
      const domain = "go.example.com";
      for (const slug of slugs)
        await store.create({ domain, slug, destination: `https://example.com/${slug}` });
      const found = await Promise.all(slugs.map((slug) => store.resolve(domain, slug)));
      expect(found.map((link) => link?.slug)).toEqual(slugs);
      // A statement that is prepared in one session is missing in the other.
      await using opened = openPostgres(pooled, warning, patientConnectTimeoutMs);
      const named = slugs.map((_, n) => opened.query("SELECT $1::int AS n", [n], 5_000, "number"));
      expect(await Promise.all(named)).toEqual(slugs.map((_, n) => ({ n })).map((row) => [row]));
      expect(said).toEqual(["Postgres, or a pooler before it, does not keep prepared statements"]);
    });

    test("that refuses what our sessions begin with is said to, with what to change in it", async () => {
      expect(await refusal(servers().strict)).toContain("ignore_startup_parameters");
    });
  },
);
