import { describeWith } from "@sluice/testkit/describe-with.ts";
import { dumpTables } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";
import { sql } from "../testing/raw-postgres.ts";
import { openTargetWorld } from "../testing/target-world.ts";
import { targetId } from "./target-id.ts";

const now = 1_790_000_000_000;
const dayMs = 86_400_000;
const url = "https://hooks.example/in?x=1";

const hex = (text: string) => Buffer.from(text).toString("hex");

const open = () => openTargetWorld({ endpoints: 30, integrations: 3, pixels: 30 });

describeWith("endpoints, integrations and pixels on a real Postgres", open, (world) => {
  test("an endpoint comes back as it was made, with a secret, unverified, and its secrets are nowhere in the clear", async () => {
    const { targets, links } = world();
    const link = await links.create({ domain: "a.example", destination: "https://example.com/" });
    const made = await targets.create(
      1,
      {
        kind: "webhook",
        url: "https://HOOKS.example/in",
        description: "orders",
        headers: { Authorization: "Bearer very-secret" },
        eventTypes: ["link.clicked", "endpoint.disabled"],
        filter: { linkIds: [link.id], domains: ["A.example"], countries: ["DE"], includeBots: true },
        maxInFlight: 3,
        maxPerSecond: 0.5,
      },
      now,
    );
    expect(made).toMatchObject({
      kind: "webhook",
      workspaceId: 1,
      url: "https://hooks.example/in",
      description: "orders",
      headers: { authorization: "Bearer very-secret" },
      eventTypes: ["link.clicked", "endpoint.disabled"],
      filter: {
        linkIds: [link.id],
        domains: ["a.example"],
        countries: ["DE"],
        includeBots: true,
        includeOptedOut: false,
      },
      maxInFlight: 3,
      maxPerSecond: 0.5,
      method: "POST",
      allowPrivate: false,
      verified: false,
      disabled: undefined,
    });
    const [secret = ""] = made.secrets;
    expect(Buffer.from(secret.replace(/^whsec_/, ""), "base64")).toHaveLength(32);
    expect(await targets.show(made.id, now)).toEqual(made);
    expect(await targets.list(1, now)).toContainEqual(made);
    const dump = await dumpTables(world().url);
    for (const text of [secret, "very-secret", hex(secret), hex("very-secret")])
      expect(dump).not.toContain(text);
  });

  test("integrations and pixels come back as they were made", async () => {
    const { targets } = world();
    const settings = { api_secret: "s", nested: { list: [1, null] } };
    const integration = await targets.create(2, { kind: "ga4", settings }, now);
    expect(integration).toMatchObject({ kind: "ga4", workspaceId: 2, settings, url: "", secrets: [] });
    const template = "https://t.example/{country}?c={click_id}";
    const pixel = await targets.create(2, { kind: "pixel", url: template, method: "POST" }, now);
    expect(pixel).toMatchObject({ kind: "pixel", url: template, method: "POST", headers: {}, settings: {} });
    expect((await targets.list(2, now)).map(({ id }) => id)).toEqual([integration.id, pixel.id]);
  });

  test("what is edited changes and nothing else; another URL is unverified, other settings are not", async () => {
    const { targets, url: postgres } = world();
    const made = await targets.create(
      1,
      { kind: "webhook", url, headers: { "x-a": "1" }, maxInFlight: 5 },
      now,
    );
    await sql(postgres, "UPDATE webhook_endpoints SET verified_at = now()");
    const edited = await targets.edit(made.id, { description: "new", maxInFlight: null, url }, now);
    expect(edited).toEqual({ ...made, description: "new", maxInFlight: undefined, verified: true });
    const filtered = await targets.edit(made.id, { filter: { countries: ["FR"] }, headers: {} }, now);
    expect(filtered).toMatchObject({ headers: {}, filter: { countries: ["FR"], includeBots: false } });
    expect(await targets.edit(made.id, { url: `${url}2` }, now)).toMatchObject({ verified: false });
    const mixpanel = await targets.create(1, { kind: "mixpanel", settings: { token: "a" } }, now);
    await sql(postgres, "UPDATE integrations SET verified_at = now()");
    expect(await targets.edit(mixpanel.id, { settings: { token: "b" } }, now)).toMatchObject({
      settings: { token: "b" },
      verified: true,
    });
  });

  test("a rotated secret signs first, the one before beside it for a day, and never more than two", async () => {
    const { targets } = world();
    const { id, secrets } = await targets.create(1, { kind: "webhook", url }, now);
    const [first] = secrets;
    const { secrets: two } = await targets.rotateSecret(id, { now });
    expect(two).toEqual([expect.stringMatching(/^whsec_/), first]);
    expect((await targets.show(id, now + dayMs - 1)).secrets).toEqual(two);
    expect((await targets.show(id, now + dayMs)).secrets).toEqual([two[0]]);
    const { secrets: again } = await targets.rotateSecret(id, { now: now + 1, keepMs: 10 });
    expect(again).toEqual([expect.any(String), two[0]]);
    expect((await targets.show(id, now + 11)).secrets).toHaveLength(1);
  });

  test("disabling says whether it did it, and what is disabled, unverified or deleted is not sent to", async () => {
    const { targets, url: postgres } = world();
    const { id } = await targets.create(1, { kind: "webhook", url }, now);
    const sendable = async () => (await targets.sendable(now)).filter((target) => target.id === id);
    expect(await sendable()).toEqual([]);
    await sql(postgres, "UPDATE webhook_endpoints SET verified_at = now()");
    expect(await sendable()).toEqual([await targets.show(id, now)]);
    const both = await Promise.all([1, 2].map(() => targets.disable(id, "five days of failures", now)));
    expect(both.filter(Boolean)).toHaveLength(1);
    expect((await targets.show(id, now)).disabled).toEqual({ at: now, reason: "five days of failures" });
    expect(await sendable()).toEqual([]);
    await targets.delete(id);
    await expect(targets.show(id, now)).rejects.toMatchObject({ code: "not-found" });
    await expect(targets.delete(id)).rejects.toMatchObject({ code: "not-found" });
    expect(await targets.disable(id, "again", now)).toBe(false);
  });

  test("private networks are an operator's to allow, for an endpoint or a pixel", async () => {
    const { targets } = world();
    const { id } = await targets.create(1, { kind: "webhook", url }, now);
    await targets.allowPrivate(id, true);
    expect(await targets.show(id, now)).toMatchObject({ allowPrivate: true });
    await expect(targets.allowPrivate("in_1", true)).rejects.toThrow(/^target takes an endpoint or a pixel/);
  });

  test("all that may be sent to are read when there are more than a page of them", async () => {
    await sql(
      world().url,
      `INSERT INTO pixels (workspace_id, url, verified_at)
       SELECT 2, 'https://p.example/' || n, now() FROM generate_series(1, 4001) AS n`,
    );
    const found = (await world().targets.sendable(now)).filter(({ kind }) => kind === "pixel");
    expect(new Set(found.map(({ url: each }) => each)).size).toBe(4_001);
    await sql(world().url, "DELETE FROM pixels WHERE url LIKE 'https://p.example/%'");
  });

  test("a workspace has room for so many, and one that is not there for none", async () => {
    const { targets } = world();
    const have = (await targets.list(1, now)).filter(({ id }) => id.startsWith("in_")).length;
    for (let n = have; n < 3; n += 1) await targets.create(1, { kind: "meta", settings: {} }, now);
    await expect(targets.create(1, { kind: "meta", settings: {} }, now)).rejects.toThrow(
      "workspaceId takes a workspace with fewer than 3 integrations; got 1",
    );
    await targets.create(2, { kind: "meta", settings: {} }, now);
    await expect(targets.create(999, { kind: "webhook", url }, now)).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("links of another workspace cannot be asked for", async () => {
    const { targets, links } = world();
    const link = await links.create({ domain: "b.example", destination: "https://example.com/" });
    const filter = { linkIds: [link.id, 999_999] };
    const message = `filter.linkIds takes links of the workspace; got [${link.id},999999]`;
    await expect(targets.create(1, { kind: "webhook", url, filter }, now)).rejects.toThrow(message);
    const { id } = await targets.create(1, { kind: "webhook", url }, now);
    await expect(targets.edit(id, { filter }, now)).rejects.toThrow(message);
    await expect(targets.edit(targetId("ep", 999_999), {}, now)).rejects.toMatchObject({ code: "not-found" });
  });
});
