import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { proofName, readTexts } from "./domain-proof.ts";
import { type DnsServer, startDnsServer } from "./testing/dns-server.ts";
import { openTestStore } from "./testing/store.ts";

async function open() {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const dns = stack.use(await startDnsServer());
  const opened = stack.move();
  return { store, dns, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("the proof of a domain, from a name server", open, (opened) => {
  test("is its token, also among other records and in pieces", async () => {
    const { store, dns } = opened();
    const { verificationToken: token } = await store.ensureDomain("go.example", "one");
    dns.texts.set("_sluice.go.example", [["v=spf1 -all"], [token.slice(0, 5), token.slice(5)]]);
    expect(await store.verifyDomain("GO.example", look(dns))).toMatchObject({ verified: true });
    expect(await store.resolveDomain("go.example")).toMatchObject({ verified: true });
  });

  test("is asked for by name and value where it is missing or another's", async () => {
    const { store, dns } = opened();
    const { verificationToken: token } = await store.ensureDomain("bare.example", "one");
    const verify = () => store.verifyDomain("bare.example", look(dns));
    const wanted = `_sluice.bare.example takes a TXT record ${token}; got`;
    await expect(verify()).rejects.toThrow(`${wanted} []`);
    dns.texts.set(proofName("bare.example"), []);
    await expect(verify()).rejects.toThrow(`${wanted} []`);
    dns.texts.set(proofName("bare.example"), [["another"], [`${token}0`]]);
    await expect(verify()).rejects.toMatchObject({
      code: "invalid",
      message: `${wanted} ["another","${token}0"]`,
    });
    expect(await store.resolveDomain("bare.example")).toMatchObject({ verified: false });
    await expect(store.verifyDomain("never.example", look(dns))).rejects.toThrow(
      "there is no domain never.example",
    );
  });

  test("is not asked for where no DNS can vouch", async () => {
    const { store, dns } = opened();
    await store.ensureDomain("localhost", "one");
    const asked = dns.asked;
    expect(await store.verifyDomain("localhost", look(dns))).toMatchObject({ verified: true });
    expect(dns.asked).toBe(asked);
  });

  test("of name servers that say nothing is waited for five seconds, or until told to stop", async () => {
    await using stack = new AsyncDisposableStack();
    const silent: DnsServer[] = [];
    for (let n = 0; n < 4; n += 1) silent.push(stack.use(await startDnsServer()));
    for (const server of silent) server.silent = true;
    const nameServers = silent.map(({ address }) => address);
    const startedAt = performance.now();
    await expect(readTexts("x.example", { nameServers })).rejects.toMatchObject({
      code: "unavailable",
      retryable: true,
    });
    expect(performance.now() - startedAt).toBeLessThan(7_000);
    const asked = silent[0]?.asked ?? 0;
    const stop = new AbortController();
    const stopped = readTexts("x.example", { nameServers, signal: stop.signal }).catch((e: unknown) => e);
    await expect.poll(() => silent[0]?.asked).toBeGreaterThan(asked);
    stop.abort(new Error("enough"));
    expect(await stopped).toMatchObject({ message: "enough" });
  });

  test("comes from an address", async () => {
    await expect(readTexts("x.example", { nameServers: ["dns.example"] })).rejects.toThrow(
      'nameServers takes addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53; got ["dns.example"]',
    );
  });
});

function look(dns: DnsServer) {
  return (name: string) => readTexts(name, { nameServers: [dns.address] });
}
