import { join } from "node:path";

import { choosePort } from "@sluice/local-services/port.ts";
import { startSentinel } from "@sluice/local-services/redis-sentinel.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { makeCertificates } from "@sluice/testkit/certificates.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { provide } from "@sluice/testkit/provide.ts";
import { testRedisSet } from "@sluice/testkit/redis-set.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { createClient } from "@redis/client";
import { expect, it, vi } from "vitest";

import { redisServer } from "./redis-server.ts";

/** Connects as every user of this package does, and gives the port of the server that has answered. */
async function connected(url: string): Promise<string> {
  const server = redisServer(url, "REDIS_URL");
  const client = createClient(await server.locate(2_000));
  client.on("error", () => {});
  try {
    await client.connect();
    await server.check(client);
    return /tcp_port:(\d+)/.exec(await client.info("server"))?.[1] ?? "";
  } catch (error) {
    throw new Error(server.explain(error), { cause: error });
  } finally {
    if (client.isOpen) client.destroy();
  }
}

/** As that; a loaded machine may be slower than the time that a sentinel has. */
async function reached(url: string): Promise<string> {
  return await vi.waitFor(() => connected(url), { timeout: 30_000, interval: 100 });
}

async function refusal(url: string): Promise<string> {
  return await connected(url).then(
    (port) => `connected to ${port}`,
    (error: unknown) => String(error),
  );
}

async function openServers() {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const certificates = makeCertificates(stack.use(await tempDir()).path);
  const others = makeCertificates(stack.use(await tempDir()).path);
  const tlsOf = async (name: string, days = 2) => {
    const { cert, key } = certificates.save(name, certificates.sign("127.0.0.1", days));
    const port = await choosePort("redis", "127.0.0.1", undefined);
    const files = {
      "tls-cert-file": cert,
      "tls-key-file": key,
      "tls-ca-cert-file": certificates.caPath,
      "tls-auth-clients": "no",
    };
    return { port, settings: { "tls-port": `${port}`, ...files } };
  };
  const start = async (name: string, days: number, more: Record<string, string> = {}): Promise<number> => {
    const { port, settings } = await tlsOf(name, days);
    const user = "clicks on >s3cret ~* &* +@all";
    stack.use(
      await startRedis({
        dataDir: join(path, name),
        settings: { ...settings, user, ...more },
        log: silentLog,
      }),
    );
    return port;
  };
  const open = await start("open", 2);
  const strict = await start("strict", 2, { "tls-auth-clients": "yes" });
  const expired = await start("expired", -1);
  const watching = await tlsOf("sentinel");
  stack.use(
    await startSentinel({
      dataDir: join(path, "sentinel"),
      name: "clicks",
      primaryPort: open,
      quorum: 1,
      downAfterMs: 1_000,
      settings: {
        ...watching.settings,
        "tls-replication": "yes",
        requirepass: "s3ntinel",
        "sentinel auth-user clicks": "clicks",
        "sentinel auth-pass clicks": "s3cret",
      },
      log: silentLog,
    }),
  );
  const cluster = stack.use(
    await startRedis({
      dataDir: join(path, "cluster"),
      settings: { "cluster-enabled": "yes" },
      log: silentLog,
    }),
  );
  const opened = stack.move();
  return {
    ports: { open, strict, expired, sentinel: watching.port },
    cluster: cluster.url,
    ca: certificates.caPath,
    otherCa: others.caPath,
    client: certificates.save("client", certificates.sign("edge")),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const noContainer = () => Promise.reject(new Error("these servers are made here"));

describeWith(
  "Redis behind TLS and passwords",
  () => provide("Redis", openServers, noContainer),
  (servers) => {
    it("is reached by its own authority, a login, and a certificate of ours where it asks for one", async () => {
      const { ports, ca, client } = servers();
      const url = `rediss://clicks:s3cret@127.0.0.1:${ports.open}/0?ca=${ca}&groups=store`;
      expect(await connected(url)).not.toBe("");
      const strict = `rediss://127.0.0.1:${ports.strict}?ca=${ca}`;
      expect(await refusal(strict)).toMatch(/as cert and key in REDIS_URL|Socket closed|ECONNRESET/);
      expect(await connected(`${strict}&cert=${client.cert}&key=${client.key}`)).not.toBe("");
    });

    it("says in words what to mend, with the setting and without the password", async () => {
      const { ports, ca, otherCa } = servers();
      const at = `127.0.0.1:${ports.open}`;
      const untrusted = "give the path of the authority's certificate as ca in REDIS_URL";
      expect(await refusal(`rediss://${at}`)).toContain(untrusted);
      expect(await refusal(`rediss://${at}?ca=${otherCa}`)).toContain(untrusted);
      expect(await refusal(`rediss://127.0.0.1:${ports.expired}?ca=${ca}`)).toContain("has expired");
      expect(await refusal(`rediss://localhost:${ports.open}?ca=${ca}`)).toContain(
        "use the name that is in it",
      );
      const wrong = await refusal(`rediss://clicks:wr0ng@${at}?ca=${ca}`);
      expect(wrong).toContain("mend user and password in REDIS_URL");
      expect(wrong).not.toContain("wr0ng");
    });

    it("is found by sentinels that are reached by TLS and have a password of their own", async () => {
      const { ports, ca } = servers();
      const set = `rediss+sentinel://clicks:s3cret@127.0.0.1:${ports.sentinel}/clicks/0?ca=${ca}`;
      expect(await reached(`${set}&sentinelPassword=s3ntinel`)).not.toBe("");
      for (const wrong of [set, `${set}&sentinelPassword=wr0ng`]) {
        const said = await refusal(wrong);
        expect(said).toContain("mend user and password in REDIS_URL, for sentinels sentinelUser and");
        expect(said).not.toContain("wr0ng");
      }
      const untrusted = set.replace(/ca=.*/, "sentinelPassword=s3ntinel");
      expect(await refusal(untrusted)).toContain("the authority's certificate as ca in REDIS_URL");
    });

    it("a node of a cluster is refused: cluster mode is not supported", async () => {
      expect(await refusal(servers().cluster)).toContain(
        "REDIS_URL takes no Redis Cluster, which is not supported",
      );
    });
  },
);

describeWith("a set of Redis with sentinels", testRedisSet, (set) => {
  it("is known by its name; a sentinel in place of a server, and a name that it does not know, are said to be", async () => {
    const { url, primary, sentinels } = set();
    expect(await reached(url)).toBe(`${primary.port}`);
    expect(await refusal(url.replace(/clicks$/, "other"))).toContain('names a primary for "other"');
    expect(await refusal(sentinels[0]?.url ?? "")).toContain("REDIS_URL names a sentinel");
  });

  it("after a fail-over it is the new primary, with a sentinel down; the old one is not taken for it", async () => {
    const { url, primary, replica, sentinels } = set();
    const [first] = sentinels;
    primary.kill("SIGKILL");
    await primary.exited;
    await vi.waitFor(async () => expect(await connected(url)).toBe(`${replica.port}`), {
      timeout: 30_000,
      interval: 100,
    });
    // Comes back as a primary, until the sentinels have told it otherwise.
    await set().restartPrimary();
    for (let time = 0; time < 5; time++) expect(await reached(url)).toBe(`${replica.port}`);
    if (first === undefined) throw new Error("there are three sentinels");
    first.kill("SIGKILL");
    await first.exited;
    expect(await reached(url)).toBe(`${replica.port}`);
  });
});
