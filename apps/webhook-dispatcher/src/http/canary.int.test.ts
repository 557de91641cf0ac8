import { startDnsServer } from "@sluice/link-store/testing/dns-server.ts";
import { beforeAll, afterAll, expect, test } from "vitest";
import { type Receiver, startReceiver } from "./testing/receiver.ts";
import { openTestClient, send } from "./testing/send.ts";
import { forbiddenAddresses, forbiddenHosts } from "./testing/vectors.ts";

const resources = new AsyncDisposableStack();
let canary: Receiver;
let client: ReturnType<typeof openTestClient>;

const addresses = Object.values(forbiddenAddresses).flat();
const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);
const nameOf = (address: string): string => `a${addresses.indexOf(address)}.attacker.example`;

beforeAll(async () => {
  // Every address of this machine, of both families.
  canary = resources.use(await startReceiver((response) => response.end("secret"), { host: "::" }));
  const dns = resources.use(await startDnsServer());
  for (const address of addresses) dns.hosts.set(nameOf(address), [address]);
  for (const name of ["receiver", "kubernetes", "metadata", "redis", "localhost"]) {
    dns.hosts.set(name, ["127.0.0.1", "::1"]);
  }
  dns.hosts.set("mixed.attacker.example", ["8.8.8.8", "127.0.0.1"]);
  dns.hosts.set("mixed-families.attacker.example", ["8.8.8.8", "::1"]);
  dns.hosts.set("chain.attacker.example", ["link.attacker.example"]);
  dns.hosts.set("link.attacker.example", ["end.attacker.example"]);
  dns.hosts.set("end.attacker.example", ["127.0.0.1"]);
  dns.hosts.set("to-localhost.attacker.example", ["localhost"]);
  client = resources.use(openTestClient({ nameServers: [dns.address] }));
});
afterAll(() => resources.disposeAsync());

/** What is refused says nothing but that: no address, no rule. */
const refused = { kind: "failure", code: "address-not-allowed", maybeReceived: false, connections: 0 };

async function attempt(url: string, sender = client, allowPrivate = false): Promise<unknown> {
  const { durationMs: _, ...reply } = await send(sender, url, { allowPrivate });
  return { ...reply, connections: canary.connections };
}

test("there are at least 120 vectors", () => {
  expect(addresses.length * 2 + forbiddenHosts.length).toBeGreaterThan(120);
  expect(new Set([...addresses.map(bracketed), ...forbiddenHosts]).size).toBeGreaterThan(120);
});

test("the canary is where the vectors lead: with private networks granted it is reached by them", async () => {
  await using own = await startReceiver((response) => response.end(), { host: "::" });
  for (const host of ["127.0.0.1", "[::1]", "127.1", "localhost", nameOf("127.0.0.2"), "0x7f000001"]) {
    expect(await send(client, `http://${host}:${own.port}/`)).toMatchObject({ kind: "answer", status: 200 });
  }
  expect(own.connections).toBeGreaterThan(0);
});

test.each(addresses)("row 10: %s is not reached as a literal", async (address) => {
  expect(await attempt(`http://${bracketed(address)}:${canary.port}/`)).toEqual(refused);
});

test.each(addresses)("row 10: %s is not reached through a name", async (address) => {
  expect(await attempt(`http://${nameOf(address)}:${canary.port}/`)).toEqual(refused);
});

test.each(forbiddenHosts)("row 10: %j is not reached", async (host) => {
  expect(await attempt(`http://${host}:${canary.port}/`)).toEqual(refused);
});

test.each(["mixed", "mixed-families", "chain", "to-localhost"])(
  "row 10: a name with one forbidden address or alias is not reached at all: %s",
  async (label) => {
    expect(await attempt(`http://${label}.attacker.example:${canary.port}/`)).toEqual(refused);
  },
);

test.each([
  (port: number) => `http://user@127.0.0.1:${port}/`,
  (port: number) => `http://user:password@example.com:${port}/`,
  (port: number) => `http://example.com@127.0.0.1:${port}/`,
  (port: number) => `http://127.0.0.1:${port}\\@example.com/`,
  (port: number) => `http://127.0.0.1:${port}#@example.com/`,
  (port: number) => `http:127.0.0.1:${port}/`,
  (port: number) => `http:\\\\127.0.0.1:${port}/`,
  (port: number) => `http:////127.0.0.1:${port}/`,
  (port: number) => `  http://127.0.0.1:${port}/`,
  (port: number) => `https://127.0.0.1:${port}/`,
  (port: number) => `ws://127.0.0.1:${port}/`,
  (port: number) => `ftp://127.0.0.1:${port}/`,
  () => "file:///etc/passwd",
  () => "gopher://127.0.0.1/",
  () => "unix:/var/run/docker.sock",
  () => "data:text/plain,x",
  () => "javascript:alert(1)",
])("a URL that is made to be misread is not followed: %s", async (urlAt) => {
  expect(await attempt(urlAt(canary.port))).toEqual(refused);
});

test("only the ports that are allowed, and HTTPS unless HTTP is, whatever the operator granted", async () => {
  await using strict = openTestClient({ allowHttp: false, ports: [443, canary.port + 1] });
  for (const url of [
    `https://127.0.0.1:${canary.port}/`,
    "https://8.8.8.8:22/",
    "https://8.8.8.8:6379/",
    "http://8.8.8.8/",
    "http://8.8.8.8:443/",
  ]) {
    expect(await attempt(url, strict, true)).toEqual(refused);
  }
});

test("what is granted private networks reaches no metadata service and nothing link-local", async () => {
  for (const address of ["169.254.169.254", "fd00:ec2::254", "fe80::1", "168.63.129.16", "0.0.0.0"]) {
    expect(await attempt(`http://${bracketed(address)}:${canary.port}/`, client, true)).toEqual(refused);
    expect(await attempt(`http://${nameOf(address)}:${canary.port}/`, client, true)).toEqual(refused);
  }
});

test("a connection that was made for a target with a grant is not used by one without", async () => {
  await using own = await startReceiver((response) => response.end());
  const url = `http://127.0.0.1:${own.port}/`;
  await send(client, url);
  expect(await attempt(url)).toEqual(refused);
  await send(client, url);
  expect([own.connections, own.requests.length]).toEqual([1, 2]);
});
