import { migrate } from "@sluice/link-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { delivered, playDispatcher, secretKey } from "../testing/dispatcher.ts";
import { runHere } from "../testing/run-here.ts";
import { run } from "../testing/run.ts";

const url = "https://customer.example/hook";

describeWith("endpoints from the command line", testPostgres, (postgres) => {
  const sluice = (args: readonly string[], input?: string) =>
    runHere({ DATABASE_URL: postgres().url, SECRET_KEYS: secretKey }, args, input);
  const endpoint = (...args: string[]) => sluice(["endpoint", ...args]);
  const shown = async (id: string) =>
    (await endpoint("show", id)).out.map((line) => line.trim().replaceAll(/ {2,}/g, " "));
  const make = async (...args: string[]) => {
    const { out, err } = await endpoint("create", url, ...args);
    expect(out).toEqual([
      expect.stringMatching(/^ep_\d+$/),
      expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{32,}$/),
    ]);
    const [id = "", secret = ""] = out;
    return { id, secret, err };
  };

  beforeAll(async () => {
    await migrate(postgres().url, { log: silentLog });
    for (const slug of ["spring", "autumn"])
      await sluice(["link", "create", "https://example.com/", "--slug", slug]);
  });

  test("one is made, tested at once, and shown with all that it has, but for what is secret in it", async () => {
    await using _ = await playDispatcher(postgres().url, delivered);
    const filter = [
      "--link",
      "spring",
      "--domain",
      "Go.Example",
      "--country",
      "DE",
      "--country",
      "AT",
      "--bots",
    ];
    const bounds = ["--max-in-flight", "3", "--max-per-second", "0.5"];
    const headers = ["--header", "X-Team: blue", "--header", "authorization: -"];
    const create = ["endpoint", "create", url, "--description", "orders", ...filter, ...bounds, ...headers];
    const made = await sluice(create, "Bearer hidden\n");
    const [id = "", secret = ""] = made.out;
    expect(made).toMatchObject({ code: 0, out: { length: 2 } });
    expect(made.err.split("\n").slice(-1)).toEqual([`${id}: the test was delivered (status 204)`]);
    const all = await shown(id);
    expect(all).toEqual([
      id,
      "state active",
      "kind webhook",
      "description orders",
      `url ${url}`,
      "event link.clicked",
      expect.stringMatching(/^link-id \d+$/),
      "domain go.example",
      "country DE",
      "country AT",
      "bots yes",
      "header x-team: (not shown)",
      "header authorization: (not shown)",
      "max-in-flight 3",
      "max-per-second 0.5",
    ]);
    const json = await endpoint("show", id, "--json");
    expect(JSON.parse(json.out.join(""))).toMatchObject({ id, verified: true, secrets: 1, disabled: null });
    const listed = await endpoint("list");
    expect(listed.out).toContain(`${id}  ${url}  orders`);
    const said = JSON.stringify([all, json, listed, await endpoint("list", "--json")]);
    expect(said).not.toContain(secret);
    expect(said).not.toMatch(/hidden|blue/);
  });

  test("an edit leaves what it does not name; another URL is tested again", async () => {
    const { id } = await make(
      "--link",
      "spring",
      "--country",
      "DE",
      "--max-in-flight",
      "3",
      "--opted-out",
      "--bots",
      "--no-test",
    );
    await endpoint(
      "edit",
      id,
      "--no-link",
      "--description",
      "new",
      "--no-opted-out",
      "--event",
      "endpoint.disabled",
    );
    expect((await shown(id)).slice(3)).toEqual([
      "description new",
      `url ${url}`,
      "event endpoint.disabled",
      "country DE",
      "bots yes",
      "max-in-flight 3",
    ]);
    await endpoint(
      "edit",
      id,
      "--no-country",
      "--no-bots",
      "--no-max-in-flight",
      "--description",
      "",
      "--event",
      "link.clicked",
    );
    expect((await shown(id)).slice(3)).toEqual([`url ${url}`, "event link.clicked"]);
    await using _ = await playDispatcher(postgres().url, delivered);
    expect((await endpoint("test", id)).out).toEqual([`${id}  the test was delivered (status 204)`]);
    expect((await endpoint("edit", id, "--description", "same")).err).toBe("");
    const moved = await endpoint("edit", id, "--url", `${url}/2`);
    expect(moved.err).toContain("the test was delivered");
    expect(moved.out).toEqual([
      `${id}  ${url}/2  same  (not verified: it gets nothing until a test succeeds)`,
    ]);
  });

  test("without a dispatcher that is said, and the list says who gets nothing", async () => {
    const { id, err } = await make();
    expect(err).toBe(
      `The secret is shown this once.\n${id}: no dispatcher is alive: it was not tested\n` +
        `It gets nothing until a test succeeds: sluice endpoint test ${id}`,
    );
    expect((await endpoint("list")).out).toContain(
      `${id}  ${url}  (not verified: it gets nothing until a test succeeds)`,
    );
    expect(await endpoint("test", id)).toMatchObject({
      code: 1,
      err: `sluice: no dispatcher is alive: ${id} was not tested`,
    });
  });

  test("a test that fails is told with its reason, escaped, and nothing is verified or enabled by it", async () => {
    const { id } = await make("--no-test");
    expect((await endpoint("disable", id, "--reason", "on holiday")).out).toEqual([
      expect.stringMatching(/\(disabled since 20\S+Z: on holiday\)$/),
    ]);
    const bad = { ok: false, code: "unexpected-status", status: 500, detail: "a\u001b[2J\u009b b" };
    {
      await using _ = await playDispatcher(postgres().url, bad);
      const failed = await endpoint("enable", id);
      const told = `${id}  the test failed, unexpected-status: a\\u001b[2J\\u009b b (status 500)`;
      expect(failed).toMatchObject({ code: 1, out: [told] });
      expect((await shown(id))[1]).toMatch(/^state disabled since/);
      const json = await endpoint("test", id, "--json");
      expect(JSON.parse(json.out.join(""))).toEqual({ id, ...bad });
      expect(json.code).toBe(1);
    }
    await using _ = await playDispatcher(postgres().url, delivered);
    expect(await endpoint("enable", id)).toMatchObject({
      code: 0,
      out: [`${id}  the test was delivered (status 204): enabled`],
    });
    expect((await shown(id))[1]).toBe("state active");
  });

  test("a secret is replaced; the old one signs as well as long as it is kept, and neither is shown later", async () => {
    const { id, secret } = await make("--no-test");
    const rotated = await endpoint("rotate", id);
    expect(rotated.out).toEqual([expect.stringMatching(/^whsec_/)]);
    expect(rotated.out[0]).not.toBe(secret);
    expect(await shown(id)).toContain("secrets 2: both sign");
    await endpoint("rotate", id, "--keep", "0");
    expect((await shown(id)).join("\n")).not.toMatch(/secrets|whsec/);
  });

  test("private networks are allowed to single ones, and not any more", async () => {
    const { id } = await make("--no-test");
    await endpoint("allow-private", id);
    expect(await shown(id)).toContain("private networks allowed");
    expect((await endpoint("allow-private", id, "--off")).out).toEqual([
      `${id}  (private networks not allowed)`,
    ]);
    expect((await shown(id)).join("\n")).not.toContain("private");
  });

  test("one that is deleted is gone", async () => {
    const { id } = await make("--no-test");
    expect((await endpoint("delete", id)).out).toEqual([`${id}  (deleted)`]);
    for (const verb of ["show", "delete", "disable", "rotate", "edit", "allow-private"])
      expect(await endpoint(verb, id)).toMatchObject({ code: 1, err: `sluice: there is no target ${id}` });
  });

  test.for([
    [["create", "ftp://x.y/"], 'sluice: url takes an absolute URL, http or https; got "ftp://x.y/"'],
    [["create", url, "--workspace", "nobody"], "sluice: there is no workspace nobody"],
    [["create", url, "--link", "nowhere"], "sluice: there is no link localhost/nowhere"],
    [["create", url, "--country", "Germany"], /^sluice: filter\.countries\[0\] takes .*; got "Germany"$/],
    [["create", url, "--event", "link.made"], /^sluice: eventTypes\[0\] takes .*; got "link\.made"$/],
    [["create", url, "--max-in-flight", "none"], /^sluice: maxInFlight takes .*; got "none"$/],
    [["create", url, "--max-per-second", "0"], /^sluice: maxPerSecond takes .*; got 0$/],
    [["create", url, "--header", "host: a"], /^sluice: headers takes .*; got "host"$/],
    [["create", url, "--header", "nothing"], /^error: .*takes 'name: value'/],
    [
      ["create", url, "--header", "a: -"],
      "sluice: --header takes 1 lines of standard input, one for each -; got 0",
    ],
    [
      ["create", url, "--header", "a: 1", "--header", "a: 2"],
      "sluice: --header takes each name once; got a twice",
    ],
    [["show", "px_1"], /^error: .*takes an id such as ep_1\.$/],
    [["rotate", "ep_1", "--keep", "soon"], /^error: .*takes a whole number of hours from 0 to 999\.$/],
  ] as const)("%j is refused in one line", async ([args, line]) => {
    const { code, out, err } = await endpoint(...args);
    expect({ code, out }).toEqual({ code: 1, out: [] });
    expect(err).toMatch(line);
    expect(err.split("\n")).toHaveLength(1);
  });

  test("keys that are none, or not ours, are said without being shown", async () => {
    await make("--no-test");
    const keys = Buffer.alloc(32, 8).toString("base64");
    const other = await runHere({ DATABASE_URL: postgres().url, SECRET_KEYS: keys }, ["endpoint", "list"]);
    expect(other).toMatchObject({ code: 0, out: [] });
    expect(other.err).toContain("cannot be decrypted");
    const none = await run({ SECRET_KEYS: "x".repeat(44) }, ["endpoint", "list"]);
    expect(none).toMatchObject({ code: 1, out: [] });
    expect(none.err).toMatch(/SECRET_KEYS.*keys of 32 bytes in base64/);
    expect(none.err).not.toContain("xxx");
  });
});
