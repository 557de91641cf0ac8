import { execFile } from "node:child_process";
import { cp, glob, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv, promisify } from "node:util";

import { version } from "@sluice/service/version.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

async function read(name: string): Promise<string> {
  return await readFile(join(root, name), "utf8");
}

async function composeFile(): Promise<string> {
  return await read("docker-compose.yml");
}

/** A folder with init where the repository has it. */
async function folderWithInit() {
  const folder = await tempDir();
  await mkdir(join(folder.path, "infra/compose"), { recursive: true });
  const init = join(folder.path, "infra/compose/init");
  await cp(join(root, "infra/compose/init"), init);
  await cp(join(root, "docker-compose.yml"), join(folder.path, "docker-compose.yml"));
  return { ...folder, init, env: join(folder.path, ".env") };
}

/** The variables without which compose starts nothing. */
async function demanded(): Promise<string[]> {
  return [...new Set([...(await composeFile()).matchAll(/\$\{(\w+):\?/g)].map(([, name = ""]) => name))];
}

test.for(["full", "small", "full tls"])("init %s writes all that the compose file demands", async (words) => {
  await using folder = await folderWithInit();
  await run(folder.init, words.split(" "));
  const written = parseEnv(await readFile(folder.env, "utf8"));
  for (const name of await demanded()) expect(written).toHaveProperty(name);
  expect(written["COMPOSE_PROFILES"]).toBe(words.replace(" ", ","));
  expect(Buffer.from(written["SLUICE_SECRET_KEYS"] ?? "", "base64")).toHaveLength(32);
});

test("a file of secrets that is there is never touched, two never have a secret in common, and only its owner reads it", async () => {
  await using one = await folderWithInit();
  await using other = await folderWithInit();
  await Promise.all([run(one.init), run(other.init)]);
  const before = await readFile(one.env, "utf8");
  await run(one.init, ["small", "tls"]);
  expect(await readFile(one.env, "utf8")).toBe(before);
  expect((await stat(one.env)).mode & 0o777).toBe(0o600);
  const secrets = /[0-9a-f]{48,}|[A-Za-z0-9+/]{43}=/g;
  expect(before.match(secrets)?.length).toBeGreaterThan(6);
  const others = await readFile(other.env, "utf8");
  for (const [secret] of before.matchAll(secrets)) expect(others).not.toContain(secret);
});

test.for(["full", "small"])(
  "init adds to a file of an older version (%s) what it lacks, and it fits",
  async (size) => {
    await using folder = await folderWithInit();
    await run(folder.init, [size]);
    const old = Object.entries(parseEnv(await readFile(folder.env, "utf8"))).filter(
      ([name]) => !/_(EDGE|INGESTER|DISPATCHER)_\w*URL|_(INGESTER|ANALYST)_PASSWORD/.test(name),
    );
    const kept = {
      ...Object.fromEntries(old),
      SLUICE_DATABASE_URL: "postgres://me:mine@db.example:6432/links",
    };
    // As a person may have left it: quoted, with remarks and no end; what is empty is lacking, too.
    const lines = Object.entries(kept).map(([name, value]) => `${name}="${value}" # mine`);
    const before = [...lines, "SLUICE_ANALYST_PASSWORD="].join("\n");
    await writeFile(folder.env, before);

    const { stdout } = await run(folder.init);
    const after = await readFile(folder.env, "utf8");
    expect(after.startsWith(before)).toBe(true);
    const is = parseEnv(after);
    expect(is).toMatchObject(kept);
    for (const name of await demanded())
      expect(Object.entries(is)).toContainEqual([name, expect.stringMatching(/./)]);
    const added = Object.keys(is).filter((name) => !(name in kept));
    expect(stdout).toContain(`added to .env: ${added.toSorted().join(" ")};`);
    // Services log in where the owner does, and to ClickHouse with the passwords that it is started with.
    for (const service of ["INGESTER", "DISPATCHER"]) {
      const login = new RegExp(`^postgres://${service.toLowerCase()}:\\w{48}@db\\.example:6432/links$`);
      expect(is[`SLUICE_${service}_DATABASE_URL`]).toMatch(login);
      const { password, host } = new URL(is[`SLUICE_${service}_CLICK_STORE_URL`] ?? "");
      expect(password).toBe(is[`SLUICE_${service}_PASSWORD`]);
      expect(host).toBe(new URL(is["SLUICE_CLICK_STORE_URL"] ?? "").host);
    }

    await run(folder.init);
    expect(await readFile(folder.env, "utf8")).toBe(after);
  },
);

test("a variable that is missing is named by what compose says, with the command that adds it", async () => {
  const said = [...(await composeFile()).matchAll(/\$\{(\w+):\?([^}]*)\}/g)];
  expect(said.length).toBeGreaterThan(20);
  for (const [, name, message] of said) expect(message).toBe(`no ${name} in .env, run ./infra/compose/init`);
});

test("no port is published beyond this host but the edge's and Caddy's", async () => {
  const ports = [...(await composeFile()).matchAll(/^ +ports: \[(.*)\]$/gm)].map(([, list = ""]) => list);
  expect(ports.length).toBeGreaterThan(4);
  expect(ports.filter((list) => !/^"127\.0\.0\.1:[^,]*"$/.test(list))).toEqual([
    '"${SLUICE_EDGE_ADDRESS:-0.0.0.0:8080}:8080"',
    '"0.0.0.0:80:80", "0.0.0.0:443:443", "0.0.0.0:443:443/udp"',
  ]);
});

test("operations ports are published nowhere, and proxied by nobody", async () => {
  const ports = [...(await composeFile()).matchAll(/^ +ports: \[(.*)\]$/gm)].map(([, list = ""]) => list);
  expect(ports.filter((list) => /:91\d\d/.test(list))).toEqual([]);
  const caddy = await readFile(join(root, "infra/compose/caddy/Caddyfile"), "utf8");
  expect([...caddy.matchAll(/^\s*reverse_proxy (.*) \{$/gm)].map(([, to]) => to)).toEqual(["edge:8080"]);
});

test("nobody but setup and the command line has the owner's logins", async () => {
  const services = (await composeFile()).split(/^ {2}(?=[a-z]+:$)/m);
  const having = (text: string) =>
    services.filter((service) => service.includes(text)).map((service) => /^\w+/.exec(service)?.[0]);
  for (const owners of ["${SLUICE_DATABASE_URL:?", "${SLUICE_CLICK_STORE_URL:?"])
    expect(having(owners)).toEqual(["setup"]);
  expect(having("*owner")).toEqual(["cli"]);
  expect(having("${SLUICE_EDGE_DATABASE_URL:?")).toEqual(["setup", "edge"]);
  expect(having("${SLUICE_INGESTER_DATABASE_URL:?")).toEqual(["setup", "ingester"]);
  expect(having("${SLUICE_DISPATCHER_CLICK_STORE_URL:?")).toEqual(["setup", "dispatcher"]);
});

test("images, compose file, manifests, package and change log say one version", async () => {
  const manifests = await Array.fromAsync(glob("infra/kubernetes/**/*.yaml", { cwd: root }), read);
  const said = [
    ...(await composeFile()).matchAll(/SLUICE_VERSION:-([^}]+)}/g),
    ...manifests.flatMap((manifest) => [...manifest.matchAll(/image: sluice\/[\w-]+:(\S+)/g)]),
    ...(await read("Dockerfile")).matchAll(/^ARG VERSION=(.+)$/gm),
    ...(await read("package.json")).matchAll(/^ {2}"version": "(.+)"/gm),
    ...[...(await read("CHANGELOG.md")).matchAll(/^## (\S+)/gm)].slice(0, 1),
  ].map(([, each]) => each);
  expect(said.length).toBeGreaterThan(12);
  expect(said.filter((each) => each !== version)).toEqual([]);
});

test("tests that fall back on containers use the versions of the compose file", async () => {
  const compose = await composeFile();
  for (const name of ["postgres", "redis", "clickhouse"]) {
    const source = await readFile(join(root, `packages/testkit/src/${name}.ts`), "utf8");
    expect(compose).toContain(`image: ${/startContainer\("([^"]+)"/.exec(source)?.[1]}\n`);
  }
});
