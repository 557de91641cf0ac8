import { migrate } from "@sluice/link-store/migrate.ts";
import { startDnsServer } from "@sluice/link-store/testing/dns-server.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";

import { run } from "../testing/run.ts";

describeWith("domains from the command line", testPostgres, (postgres) => {
  const domain = (...args: readonly string[]) => run({ DATABASE_URL: postgres().url }, ["domain", ...args]);

  beforeAll(() => migrate(postgres().url, { log: silentLog }));

  test("a domain is made, set, listed, and verified on the operator's word", async () => {
    const home = ["--home-url", "https://www.example.com/"];
    const made = await domain("add", "Go.Example", "--case-mode", "insensitive", ...home);
    const set = "case insensitive  home https://www.example.com/";
    expect(made.out).toEqual([`go.example  not verified  ${set}`]);
    expect(made.err).toContain("_sluice.go.example  TXT  ");
    const notFound = ["--not-found-url", "https://www.example.com/404"];
    await domain("set", "go.example", "--no-home-url", ...notFound);
    expect((await domain("verify", "go.example", "--trust")).code).toBe(0);
    expect((await domain("list")).out).toEqual([
      "go.example  verified  case insensitive  not found https://www.example.com/404",
    ]);
    const { out } = await domain("list", "--json");
    expect(JSON.parse(out.join(""))).toMatchObject({
      name: "go.example",
      caseMode: "insensitive",
      verified: true,
    });
  });

  test("a domain is verified by what a name server says", async () => {
    await using dns = await startDnsServer();
    const { out } = await domain("add", "dns.example", "--json");
    const { verificationToken } = z.object({ verificationToken: z.string() }).parse(JSON.parse(out.join("")));
    const verify = () => domain("verify", "dns.example", "--name-server", dns.address);
    const refused = `sluice: _sluice.dns.example takes a TXT record ${verificationToken}; got []`;
    expect(await verify()).toEqual({ code: 1, out: [], err: refused });
    dns.texts.set("_sluice.dns.example", [[verificationToken]]);
    expect(await verify()).toEqual({ code: 0, out: ["dns.example  verified"], err: "" });
    expect((await domain("list")).out).toContain("dns.example  verified");
  });

  test("one of this machine alone is verified at once", async () => {
    expect(await domain("add", "shop.localhost")).toEqual({
      code: 0,
      out: ["shop.localhost  verified"],
      err: "",
    });
  });

  test.for([
    [["add", "a b"], 'sluice: domain takes a host name such as go.example.com; got "a b"'],
    [["set", "never.example"], "sluice: there is no domain never.example"],
    [
      ["set", "go.example", "--case-mode", "loose"],
      /^error: option '--case-mode <mode>' argument 'loose' is invalid\. Allowed choices are exact, insensitive\.$/,
    ],
    [["set", "go.example", "--home-url", "x"], /^sluice: homeUrl takes an absolute URL, .*; got "x"$/],
    [
      ["verify", "go.example", "--name-server", "dns"],
      /^sluice: nameServers takes addresses such as .*; got \["dns"\]$/,
    ],
    [
      ["verify", "go.example", "--name-server", "127.0.0.1:9"],
      /^sluice: DNS: queryTxt ECONNREFUSED _sluice\.go\.example$/,
    ],
  ] as const)("%j is refused in one line", async ([args, line]) => {
    const { code, out, err } = await domain(...args);
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err).toMatch(line);
  });
});
