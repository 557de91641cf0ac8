import { startDnsServer } from "@sluice/link-store/testing/dns-server.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpClient } from "./http-client.ts";
import { type Certificates, makeCertificates } from "@sluice/testkit/certificates.ts";
import { startRawServer, startReceiver } from "./testing/receiver.ts";
import { openTestClient, send } from "./testing/send.ts";

const resources = new AsyncDisposableStack();
let certificates: Certificates;
let client: HttpClient;

beforeAll(async () => {
  certificates = makeCertificates(resources.use(await tempDir()).path);
  const dns = resources.use(await startDnsServer());
  dns.hosts.set("hooks.example", ["127.0.0.1"]);
  client = resources.use(
    openTestClient({ nameServers: [dns.address], ca: certificates.ca, allowHttp: false }),
  );
});
afterAll(() => resources.disposeAsync());

test("a receiver with a good certificate is asked for by its name, and its connection used again", async () => {
  const tls = certificates.sign("hooks.example");
  await using receiver = await startReceiver((response) => response.end(), { tls });
  for (const name of ["hooks.example", "hooks.example"]) {
    const reply = await send(client, `https://${name}:${receiver.port}/`);
    expect(reply).toMatchObject({ kind: "answer", status: 200 });
  }
  expect([receiver.connections, receiver.requests.length]).toEqual([1, 2]);
  // A full stop at the end is none of the name that the certificate has.
  expect(await send(client, `https://hooks.example.:${receiver.port}/`)).toMatchObject({ status: 200 });
});

test.each([
  ["nobody known has signed it", () => certificates.selfSigned("hooks.example")],
  ["it has expired", () => certificates.sign("hooks.example", -1)],
  ["it is of another host", () => certificates.sign("other.example")],
])("a certificate is invalid when %s, and then nothing is sent", async (_why, makeTls) => {
  await using receiver = await startReceiver((response) => response.end(), { tls: makeTls() });
  expect(await send(client, `https://hooks.example:${receiver.port}/`)).toMatchObject({
    code: "certificate-invalid",
    maybeReceived: false,
  });
  expect(receiver.requests).toEqual([]);
});

test("a certificate for a name does not do for an address", async () => {
  await using receiver = await startReceiver((response) => response.end(), {
    tls: certificates.sign("hooks.example"),
  });
  const reply = await send(client, `https://127.0.0.1:${receiver.port}/`);
  expect(reply).toMatchObject({ code: "certificate-invalid", maybeReceived: false });
});

test.each([
  ["speaks plain HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n"],
  ["closes the connection", ""],
])("TLS has failed when the receiver %s", async (_what, text) => {
  await using server = await startRawServer((socket) => socket.end(text));
  const reply = await send(client, `https://hooks.example:${server.port}/`);
  expect(reply).toMatchObject({ code: "tls-failed", maybeReceived: false });
});

test("TLS has failed when there is no version in common", async () => {
  const tls = certificates.sign("hooks.example");
  await using old = await startReceiver((response) => response.end(), {
    tls: { ...tls, maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" },
  });
  expect(await send(client, `https://hooks.example:${old.port}/`)).toMatchObject({
    code: "tls-failed",
    maybeReceived: false,
  });
});
