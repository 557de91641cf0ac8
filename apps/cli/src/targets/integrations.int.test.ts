import { migrate } from "@sluice/link-store/migrate.ts";
import { openTargetStore } from "@sluice/link-store/targets/open-targets.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";

import { delivered, playDispatcher, secretKey } from "../testing/dispatcher.ts";
import { runHere } from "../testing/run-here.ts";

const token = "EAAB-token-of-a-customer";
const appSecret = "0123456789abcdef0123456789abcdef";

describeWith("integrations and pixels from the command line", testPostgres, (postgres) => {
  const env = (keys = secretKey) => ({ DATABASE_URL: postgres().url, SECRET_KEYS: keys });
  const sluice = (args: readonly string[], input?: string) => runHere(env(), args, input);
  const shown = async (group: string, id: string) =>
    (await sluice([group, "show", id])).out.map((line) => line.trim().replaceAll(/ {2,}/g, " "));
  const kept = async (id: `in_${number}`) => {
    await using targets = openTargetStore(postgres().url, { log: silentLog, keys: [secretKey] });
    return (await targets.show(id, Date.now())).settings;
  };
  const meta = ["integration", "create", "meta", "--set", "pixel_id=12345"];
  const secrets = ["--set", "access_token=-", "--set", "app_secret=-"];

  beforeAll(async () => {
    await migrate(postgres().url, { log: silentLog });
    await sluice(["link", "create", "https://example.com/"]);
  });

  test("secrets come from standard input, a line each, and are shown to nobody", async () => {
    await using _ = await playDispatcher(postgres().url, delivered);
    const made = await sluice([...meta, ...secrets], `${token}\n${appSecret}\n`);
    expect(made).toMatchObject({ code: 0, out: ["in_1"] });
    expect(made.err).toBe("in_1: a test is on its way\nin_1: the test was delivered (status 204)");
    expect(await kept("in_1")).toEqual({ pixel_id: "12345", access_token: token, app_secret: appSecret });
    const all = await shown("integration", "in_1");
    expect(all).toEqual([
      "in_1",
      "state active",
      "kind meta",
      "event link.clicked",
      "setting pixel_id=12345",
      "setting access_token=(not shown)",
      "setting app_secret=(not shown)",
    ]);
    const json = (await sluice(["integration", "show", "in_1", "--json"])).out.join("");
    expect(JSON.parse(json)).toMatchObject({ settings: { pixel_id: "12345", access_token: true } });
    expect((await sluice(["integration", "list"])).out).toEqual(["in_1  meta"]);
    expect(JSON.stringify([all, json])).not.toMatch(/EAAB|0123456789/);
  });

  test("a setting is replaced, added or taken away; the others stay, and it is tested again", async () => {
    await using _ = await playDispatcher(postgres().url, { ...delivered, ok: false, code: "unauthorized" });
    const edit = ["integration", "edit", "in_1", "--unset", "app_secret", "--set", "event_name=Lead"];
    const edited = await sluice([...edit, "--set", "access_token=-"], "another-token-of-a-customer");
    expect(edited).toMatchObject({ code: 0, out: ["in_1  meta"] });
    expect(edited.err).toContain("in_1: the test failed, unauthorized (status 204)");
    expect(await kept("in_1")).toEqual({
      pixel_id: "12345",
      access_token: "another-token-of-a-customer",
      event_name: "Lead",
    });
    expect((await sluice(["integration", "edit", "in_1", "--description", "ads"])).err).toBe("");
  });

  test("what may be a secret is not taken from the command line, and not repeated", async () => {
    const outcome = await sluice([...meta, "--set", `access_token=${token}`]);
    expect(outcome).toEqual({
      code: 1,
      out: [],
      err: "sluice: --set takes access_token from standard input, because it may be a secret: --set access_token=-",
    });
    expect((await sluice([...meta, ...secrets], token)).err).toBe(
      "sluice: --set takes 2 lines of standard input, one for each -; got 1",
    );
  });

  test("a pixel is made, edited, tested and listed beside no other kind", async () => {
    await using _ = await playDispatcher(postgres().url, delivered);
    const url = "https://ads.example/hit?id={click_id}&c={country}";
    const made = await sluice(["pixel", "create", url, "--method", "POST", "--purpose", "retargeting"]);
    expect(made).toMatchObject({ code: 0, out: ["px_1"] });
    expect((await shown("pixel", "px_1")).slice(1)).toEqual([
      "state active",
      "kind pixel",
      `url ${url}`,
      "method POST",
      "event link.clicked",
    ]);
    await sluice(["pixel", "edit", "px_1", "--method", "GET", "--url", "https://ads.example/{ts}"]);
    expect(await shown("pixel", "px_1")).toContain("method GET");
    expect((await sluice(["pixel", "test", "px_1"])).code).toBe(0);
    await sluice(["pixel", "allow-private", "px_1"]);
    expect(await shown("pixel", "px_1")).toContain("private networks allowed");
    expect((await sluice(["pixel", "list"])).out).toEqual(["px_1  https://ads.example/{ts}"]);
    expect((await sluice(["endpoint", "list"])).out).toEqual([]);
    const bad = await sluice(["pixel", "create", "https://ads.example/{who}"]);
    expect(bad.err).toMatch(/^sluice: url takes a URL whose macros are among \{event_id\} .*; got /);
  });

  test("all that is secret is brought under a new first key, as often as one likes", async () => {
    const fresh = Buffer.alloc(32, 9).toString("base64");
    const rotate = (keys: string) => runHere(env(keys), ["secrets", "rotate"]);
    const first = await rotate(`${fresh},${secretKey}`);
    expect(first).toEqual({
      code: 0,
      out: ["1 values encrypted anew: all are under the first key"],
      err: "",
    });
    expect((await rotate(`${fresh},${secretKey}`)).out).toEqual([
      "0 values encrypted anew: all are under the first key",
    ]);
    expect((await runHere(env(fresh), ["integration", "show", "in_1"])).code).toBe(0);
    const lost = await rotate(secretKey);
    expect(lost).toMatchObject({ code: 1, out: { length: 2 } });
    expect(lost.out[1]).toBe("1 cannot be decrypted with any key of SECRET_KEYS, and stay as they are");
  });
});
