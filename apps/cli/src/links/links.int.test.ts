import { migrate } from "@sluice/link-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { run } from "../testing/run.ts";

describeWith("links from the command line", testPostgres, (postgres) => {
  const link = (args: readonly string[], input?: string) =>
    run({ DATABASE_URL: postgres().url }, ["link", ...args], input);
  const show = async (slug: string): Promise<string[]> => (await link(["show", slug])).out.map(squeeze);

  beforeAll(() => migrate(postgres().url, { log: silentLog }));

  test("a link has every part that it is made with, and loses each that is taken away", async () => {
    const switches = ["--password", "--pass-query", "--noindex", "--track-conversions"];
    const given = Object.entries({
      slug: ["full"],
      status: ["307"],
      starts: ["2026-12-24T18:00+01:00"],
      expires: ["2030-01-01T00:00:00Z"],
      "max-clicks": ["100"],
      rule: [
        "country=DE,AT device=mobile -> https://example.com/de",
        "time=08:00-18:00 zone=Europe/Berlin -> https://example.com/day",
      ],
      variant: ["50 https://example.com/a", "25 https://example.com/b"],
      ios: ["fb://profile/1"],
      android: ["market://details?id=a.b"],
      "utm-source": ["news"],
      "utm-campaign": ["a b"],
    }).flatMap(([name, values]) => values.flatMap((value) => [`--${name}`, value]));
    const create = ["create", "https://example.com/%20?q=%23", ...switches, ...given];
    const made = await link(create, "open sesame\n");
    expect(made).toEqual({ code: 0, out: ["https://localhost/full"], err: "" });
    const all = [
      "destination https://example.com/%20?q=%23",
      "status 307",
      "starts 2026-12-24T17:00:00.000Z",
      "expires 2030-01-01T00:00:00.000Z",
      "max-clicks 100",
      "password yes",
      "rule country=DE,AT device=mobile -> https://example.com/de",
      "rule time=08:00-18:00 zone=Europe/Berlin -> https://example.com/day",
      "variant 50 https://example.com/a",
      "variant 25 https://example.com/b",
      "ios fb://profile/1",
      "android market://details?id=a.b",
      "pass-query yes",
      "utm-source news",
      "utm-campaign a b",
      "noindex yes",
      "track-conversions yes",
    ];
    expect((await show("full")).slice(1)).toEqual(all);
    const named = ["starts", "expires", "max-clicks", "password", "rule", "variant", "ios", "android"];
    const removals = [...named, "pass-query", "utm", "noindex", "track-conversions"].map(
      (part) => `--no-${part}`,
    );
    expect((await link(["edit", "full", "--status", "302", ...removals])).out.map(squeeze)).toEqual([
      "https://localhost/full",
      "destination https://example.com/%20?q=%23",
      "status 302",
    ]);
  });

  test("an edit leaves what it does not name, also of UTM and apps", async () => {
    const utm = ["--utm-source", "news", "--utm-campaign", "x"];
    await link(["create", "https://example.com/", "--slug", "edit", "--ios", "fb://profile/1", ...utm]);
    await link(["edit", "edit", "--utm-source", "ads", "--android", "market://details?id=a.b"]);
    await link(["edit", "edit", "--no-ios", "--destination", "https://example.org/#é"]);
    expect((await show("edit")).slice(1)).toEqual([
      "destination https://example.org/#%C3%A9",
      "status 302",
      "android market://details?id=a.b",
      "utm-source ads",
      "utm-campaign x",
    ]);
  });

  test("a password is read from standard input and shown to nobody", async () => {
    await link(["create", "https://example.com/", "--slug", "secret", "--password"], "open sesame\r\n");
    const { out } = await link(["show", "secret", "--json"]);
    expect(JSON.parse(out.join(""))).toMatchObject({ slug: "secret", password: true });
    expect(out.join("")).not.toMatch(/scrypt|sesame/);
    const without = await link(["create", "https://example.com/", "--password"]);
    expect(without.err).toBe("sluice: password takes 1 to 256 characters; got 0");
  });

  test("a link is disabled, listed as such, and enabled", async () => {
    await link(["create", "https://example.com/", "--slug", "store"]);
    expect((await link(["disable", "store"])).out).toEqual(["https://localhost/store  (disabled)"]);
    expect((await link(["list"])).out).toContain("https://localhost/store  https://example.com/  (disabled)");
    expect((await show("store/")).slice(1)).toContain("disabled yes");
    expect((await link(["enable", "store/"])).out).toEqual(["https://localhost/store  (enabled)"]);
    expect((await link(["list"])).out).toContain("https://localhost/store  https://example.com/");
  });

  test("a link on a new domain makes the domain, and says what is to be done before it serves", async () => {
    const { code, out, err } = await link(["create", "https://example.com", "--domain", "Go.Example.com"]);
    expect(code).toBe(0);
    expect(out).toEqual([expect.stringMatching(/^https:\/\/go\.example\.com\/\w{7}$/)]);
    expect(err).toMatch(
      /^go\.example\.com does not serve yet\. Put this record into its DNS:\n {4}_sluice\.go\.example\.com {2}TXT {2}[0-9a-f]{32}\nThen: sluice domain verify go\.example\.com$/,
    );
    expect((await link(["create", "https://example.com", "--domain", "go.example.com"])).err).toBe("");
  });

  test.for([
    [["--status", "300"], "sluice: status takes 301, 302, 307 or 308; got 300"],
    [["--status", "moved"], 'sluice: status takes 301, 302, 307 or 308; got "moved"'],
    [["--max-clicks", "many"], 'sluice: maxClicks takes a whole number from 1 to 1000000000; got "many"'],
    [
      ["--starts", "tomorrow"],
      /^error: option '--starts <time>' argument 'tomorrow' is invalid\. takes a date and time with its zone, such as /,
    ],
    [
      ["--variant", "https://x.y/"],
      /^error: option '--variant <variant>' argument .* takes a weight and a destination, such as /,
    ],
    [["--variant", "1 https://x.y/"], /^sluice: variants takes 2 to 20 variants; got /],
    [
      ["--rule", "DE -> https://x.y/"],
      /^error: option '--rule <rule>' argument .* takes conditions and a destination, such as /,
    ],
    [["--rule", "country=UK -> https://x.y/"], /^sluice: rules\[0\]\.countries\[0\] takes .*; got "UK"$/],
    [["--ios", "x.y"], /^sluice: apps\.ios takes an absolute URL, .*; got "x\.y"$/],
    [["--utm-source", ""], /^sluice: utm\.source takes 1 to 256 characters .*; got ""$/],
    [["--no-utm"], "error: unknown option '--no-utm'"],
  ] as const)("%j is refused in one line", async ([args, line]) => {
    const { code, out, err } = await link(["create", "https://example.com/", "--slug", "refused", ...args]);
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err.split("\n")[0]).toMatch(line);
  });

  test("nothing is left of what was refused", async () => {
    expect((await link(["show", "refused"])).err).toBe("sluice: there is no link localhost/refused");
  });
});

function squeeze(line: string): string {
  return line.trim().replaceAll(/ {2,}/g, " ");
}
