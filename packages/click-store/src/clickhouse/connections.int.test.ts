import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { createServer, type TlsOptions } from "node:tls";

import { silentLog } from "@sluice/service/log.ts";
import { makeCertificates } from "@sluice/testkit/certificates.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";

import { migrate } from "../migrate.ts";
import { readMigrations } from "../migrations.ts";
import { connect } from "./connection.ts";
import { statementsOf } from "./migrate.ts";
import { createMigrationsTable } from "./queries/click-store-migrations.ts";
import { replicated } from "./replicated.ts";
import { never, withDatabase } from "./testing/world.ts";

/** TLS in front of a server that has none: what a balancer does, and all that a client sees of a server that has it. */
async function openTls(target: string, options: TlsOptions) {
  const { port: targetPort } = new URL(target);
  const server = createServer(options, (client) => {
    const upstream = connectTcp(Number(targetPort), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  server.on("tlsClientError", () => {});
  const port = await listenOnLoopback(server);
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

async function answers(url: string): Promise<string> {
  await using connection = connect(url);
  return await connection.select("SELECT 'it answers'", {}, never).then(
    ([line = ""]) => line,
    (error: unknown) => String(error),
  );
}

const directory = new URL("../../migrations/clickhouse/", import.meta.url);
const plain = [...(await readMigrations(directory)).flatMap(statementsOf), createMigrationsTable].map(
  (text) => text.trim(),
);
const onAllServers = /^(CREATE (TABLE|VIEW)|ALTER TABLE \w+ MODIFY SETTING)/m;

describeWith("ClickHouse", testClickHouse, (server) => {
  it("behind TLS is reached by its own authority, with a certificate of ours where it is asked for", async () => {
    await using stack = new AsyncDisposableStack();
    const made = makeCertificates(stack.use(await tempDir()).path);
    const other = makeCertificates(stack.use(await tempDir()).path);
    const good = made.sign("127.0.0.1");
    const tls = stack.use(await openTls(server().url, good));
    const strict = stack.use(
      await openTls(server().url, { ...good, ca: made.ca, requestCert: true, rejectUnauthorized: true }),
    );
    const expired = stack.use(await openTls(server().url, made.sign("127.0.0.1", -1)));
    const own = made.save("client", made.sign("ingester"));

    expect(await answers(`${tls.url}/?ca=${made.caPath}`)).toBe("it answers");
    const shown = `${strict.url}/?ca=${made.caPath}&cert=${own.cert}&key=${own.key}`;
    expect(await answers(shown)).toBe("it answers");

    const untrusted = "give the path of the authority's certificate as ca in CLICK_STORE_URL";
    expect(await answers(tls.url)).toContain(untrusted);
    expect(await answers(`${tls.url}/?ca=${other.caPath}`)).toContain(untrusted);
    expect(await answers(`${expired.url}/?ca=${made.caPath}`)).toContain("has expired");
    expect(await answers(`${strict.url}/?ca=${made.caPath}`)).toMatch(
      /as cert and key in|ECONNRESET|hang up/,
    );
  });

  it("takes every statement of the form for clusters, which differs in nothing but what makes it replicated", async () => {
    await using connection = connect(server().url);
    for (const statement of plain) {
      const variant = replicated(statement, "main");
      // The parser's own words, so that a clause in the wrong place is one that it refuses.
      const [parsed = ""] = await connection.select(
        "SELECT formatQuerySingleLine({statement:String})",
        { statement: variant },
        never,
      );
      expect(parsed.includes("ON CLUSTER")).toBe(onAllServers.test(statement));
      expect(/ENGINE = Replicated\w+MergeTree/.test(parsed)).toBe(/^CREATE TABLE/m.test(statement));
      expect(variant).not.toContain("non_replicated");
      const back = variant
        .replace(" ON CLUSTER `main`", "")
        .replace("ENGINE = Replicated", "ENGINE = ")
        .replace(/,\n {2}replicated_deduplication_window_seconds = 604800/, "")
        .replace(" replicated_dedup", " non_replicated_dedup");
      expect(back).toBe(statement);
    }
    expect(plain.filter((text) => replicated(text, "main") === text)).toEqual(
      plain.filter((text) => !onAllServers.test(text)),
    );
  });

  it("whose tables are not replicated is not taken for a cluster", async () => {
    const url = withDatabase(server().url, "sluice_alone");
    await migrate(url, { log: silentLog });
    const asCluster = migrate(`${url}?cluster=main`, { log: silentLog });
    await expect(asCluster).rejects.toThrow("click_events");
    await expect(asCluster).rejects.toMatchObject({ class: "operator" });
  });
});

it.each([
  ["http://a?ca=/ca.pem", "takes ca, cert and key only with https://"],
  ["https://a?ca=/no/ca.pem", "ca takes the path of a readable file"],
  ["https://a?cert=/c&key=/k", "takes ca beside cert and key"],
  ["http://a?cluster=a'b", "takes the name of a cluster"],
  ["http://a?insertQuorum=2", "takes insertQuorum as auto or 2 to 9, beside cluster"],
  ["http://a?cluster=main&insertQuorum=all", "takes insertQuorum as auto or 2 to 9"],
  ["http://a?compression=lz4", "takes none, gzip or zstd"],
])("%s is refused, with what the URL takes", (url, reason) => {
  expect(() => connect(url)).toThrow(reason);
  expect(() => connect(url)).toThrow("CLICK_STORE_URL");
});
