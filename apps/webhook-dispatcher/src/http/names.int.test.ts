import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { startDnsServer } from "@sluice/link-store/testing/dns-server.ts";
import { expect, test } from "vitest";
import { httpLimits } from "./open.ts";
import { startReceiver } from "./testing/receiver.ts";
import { answerOf, failureOf, openTestClient, send } from "./testing/send.ts";

test("a name's servers are asked, the connection goes to what they say, and the receiver sees the name", async () => {
  await using dns = await startDnsServer();
  await using receiver = await startReceiver((response) => response.end());
  await using client = openTestClient({ nameServers: [dns.address] });
  dns.hosts.set("hooks.example", ["alias.example"]);
  dns.hosts.set("alias.example", ["127.0.0.1"]);
  for (const name of ["hooks.example", "hooks.example.", "HOOKS.example"]) {
    answerOf(await send(client, `http://${name}:${receiver.port}/in?a=1`));
  }
  expect(receiver.requests.map(({ url, headers }) => [url, headers.host])).toEqual([
    ["/in?a=1", `hooks.example:${receiver.port}`],
    ["/in?a=1", `hooks.example.:${receiver.port}`],
    ["/in?a=1", `hooks.example:${receiver.port}`],
  ]);
});

test("row 10: what is dialled is the address that was checked, though the name leads elsewhere a moment later", async () => {
  await using dns = await startDnsServer();
  await using first = await startReceiver((response) => response.setHeader("connection", "close").end(), {
    host: "127.0.0.2",
  });
  await using second = await startReceiver((response) => response.end(), {
    host: "127.0.0.3",
    port: first.port,
  });
  await using client = openTestClient({ nameServers: [dns.address] });
  const url = `http://rebind.example:${first.port}/`;
  // A and AAAA are asked for once each; whoever asked again would be sent elsewhere.
  dns.hosts.set("rebind.example", () => [dns.asked <= 2 ? "127.0.0.2" : "127.0.0.3"]);
  answerOf(await send(client, url));
  expect([dns.asked, first.connections, second.connections]).toEqual([2, 1, 0]);
});

test("row 10: a name is judged anew each time that it is dialled", async () => {
  await using dns = await startDnsServer();
  await using receiver = await startReceiver((response) => response.setHeader("connection", "close").end());
  await using client = openTestClient({ nameServers: [dns.address] });
  const url = `http://rebind.example:${receiver.port}/`;
  dns.hosts.set("rebind.example", ["127.0.0.1"]);
  answerOf(await send(client, url));
  dns.hosts.set("rebind.example", ["169.254.169.254"]);
  expect(failureOf(await send(client, url)).code).toBe("address-not-allowed");
  dns.hosts.set("rebind.example", ["127.0.0.1", "169.254.169.254"]);
  expect(failureOf(await send(client, url)).code).toBe("address-not-allowed");
  expect(receiver.connections).toBe(1);
});

test("of several addresses that are allowed the next is tried when one refuses", async () => {
  await using dns = await startDnsServer();
  await using receiver = await startReceiver((response) => response.end(), { host: "127.0.0.4" });
  await using client = openTestClient({ nameServers: [dns.address] });
  dns.hosts.set("several.example", ["127.0.0.5", "::1", "127.0.0.4"]);
  expect(answerOf(await send(client, `http://several.example:${receiver.port}/`)).status).toBe(200);
});

test("a name that does not exist, and one without addresses, are said to have failed", async () => {
  await using dns = await startDnsServer();
  await using client = openTestClient({ nameServers: [dns.address] });
  dns.texts.set("only-texts.example", [["x"]]);
  for (const name of ["nobody.example", "only-texts.example", "x..example", `${"a".repeat(64)}.example`]) {
    expect(await send(client, `http://${name}/`)).toMatchObject({ code: "dns-failed", maybeReceived: false });
  }
});

test("a name server that keeps silent costs two seconds and holds up no file", async () => {
  await using dns = await startDnsServer();
  await using client = openTestClient({ nameServers: [dns.address] });
  dns.silent = true;
  // More than the process has threads for its files.
  const sent = Array.from({ length: 12 }, (_each, at) => send(client, `http://silent${at}.example/`));
  const startedAt = performance.now();
  const filesMs = await readFiles();
  const replies = await Promise.all(sent);
  const took = performance.now() - startedAt;
  for (const reply of replies) expect(reply).toMatchObject({ code: "dns-timeout", maybeReceived: false });
  expect(took).toBeGreaterThan(httpLimits.dnsMs - 50);
  expect(took).toBeLessThan(httpLimits.connectMs);
  // Waiting for a thread they would have taken those two seconds.
  expect(filesMs).toBeLessThan(1_000);
});

test("a name server that is not there is noticed", async () => {
  const dns = await startDnsServer();
  await dns[Symbol.asyncDispose]();
  await using client = openTestClient({ nameServers: [dns.address] });
  expect(["dns-failed", "dns-timeout"]).toContain(failureOf(await send(client, "http://a.example/")).code);
});

test("a silent AAAA does not take the known A away", async () => {
  await using dns = await startDnsServer();
  await using receiver = await startReceiver((response) => response.end());
  await using client = openTestClient({
    nameServers: [dns.address],
    limits: { ...httpLimits, dnsMs: 300 },
  });
  dns.hosts.set("half.example", ["127.0.0.1"]);
  dns.silent = "AAAA";
  expect(answerOf(await send(client, `http://half.example:${receiver.port}/`)).status).toBe(200);
});

/** How long it takes to read a file twenty times, once the questions are under way. */
async function readFiles(): Promise<number> {
  await delay(50);
  const beganAt = performance.now();
  for (let at = 0; at < 20; at += 1) await readFile(import.meta.filename);
  return performance.now() - beganAt;
}
