import { randomBytes } from "node:crypto";

import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { DatabaseError } from "pg";
import { expect, test } from "vitest";

import { giveLogin, linkGrants, type Service } from "./access.ts";
import { openAuditStore } from "./open-audit.ts";
import { openLinkStore } from "./open.ts";
import { connect, sql } from "./testing/raw-postgres.ts";
import { asRole, makeRole } from "./testing/roles.ts";
import { openTestStore } from "./testing/store.ts";

// What each may do is shown by its app, whose tests run as its role.
const forbidden: Readonly<Record<Service, readonly string[]>> = {
  edge: [
    "INSERT INTO links (workspace_id, domain_id, slug, destination) VALUES (1, 1, 'x', 'https://evil.example/')",
    "UPDATE links SET destination = 'https://evil.example/'",
    "DELETE FROM links",
    "UPDATE domains SET verified_at = now()",
    "SELECT name FROM workspaces",
    "UPDATE workspaces SET audit = NULL",
    "SELECT event FROM click_audit",
    "UPDATE click_audit SET late = true",
    "DELETE FROM click_audit",
    "UPDATE visitor_salts SET salt = ''",
    "SELECT FROM api_keys",
    "SELECT id FROM targets",
    "SELECT id FROM webhook_endpoints",
    "SELECT FROM deliveries",
    "DELETE FROM changes",
  ],
  ingester: [
    "SELECT destination FROM links",
    "UPDATE links SET destination = 'https://evil.example/'",
    "SELECT url FROM targets",
    "SELECT secret FROM targets",
    "SELECT settings FROM targets",
    "SELECT secret FROM webhook_endpoints",
    "INSERT INTO pixels (workspace_id, url) VALUES (1, 'https://evil.example/')",
    "SELECT salt FROM visitor_salts",
    "SELECT event_id FROM click_audit",
    "SELECT FROM deliveries",
    "SELECT FROM api_keys",
    "DELETE FROM changes",
  ],
  dispatcher: [
    "SELECT destination FROM links",
    "UPDATE links SET destination = 'https://evil.example/'",
    "UPDATE webhook_endpoints SET url = 'https://evil.example/'",
    "UPDATE webhook_endpoints SET secret = ''",
    "UPDATE webhook_endpoints SET allow_private = true",
    "UPDATE integrations SET settings = ''",
    "UPDATE pixels SET allow_private = true",
    "DELETE FROM webhook_endpoints",
    "INSERT INTO webhook_endpoints (workspace_id, url) VALUES (1, 'https://evil.example/')",
    "INSERT INTO delivery_tests (target, enable, requested_at) VALUES ('ep_1', true, 1)",
    "SELECT salt FROM visitor_salts",
    "SELECT event_id FROM click_audit",
    "SELECT FROM workspaces",
    "SELECT FROM api_keys",
    "DELETE FROM changes",
  ],
};
const forAll = [
  "CREATE TABLE mine (id integer)",
  "CREATE ROLE another",
  "DROP TABLE links",
  "ALTER TABLE links DISABLE TRIGGER ALL",
  "TRUNCATE links",
  "INSERT INTO schema_migrations (version, name, checksum) VALUES (99, 'x', 'x')",
];

describeWith("a service's own login", openTestStore, (opened) => {
  test.for(["edge", "ingester", "dispatcher"] as const)(
    "%s may do nothing that others do",
    async (service) => {
      await makeRole(opened().url, service);
      await using client = await connect(asRole(opened().url, service));
      const allowed: string[] = [];
      for (const statement of [...forbidden[service], ...forAll]) {
        const refused: unknown = await client.query(statement).catch((error: unknown) => error);
        if (!(refused instanceof DatabaseError && refused.code === "42501")) allowed.push(statement);
      }
      expect(allowed).toEqual([]);
    },
  );

  test("an edge finds links, shares the salt and adds to the audit", async () => {
    const { url, store } = opened();
    await makeRole(url, "edge");
    const link = await store.create({
      domain: "a.example",
      slug: "mine",
      destination: "https://example.com/",
    });
    const own = asRole(url, "edge");
    await using edge = openLinkStore(own, { log: silentLog });
    expect(await edge.resolve("a.example", "mine")).toEqual(link);
    const salt = Buffer.alloc(32, 1);
    expect(Buffer.from(await edge.visitorSalt(20_000, salt))).toEqual(salt);
    await using audit = openAuditStore(own, { log: silentLog });
    expect(await audit.workspaces()).toEqual(new Map());
  });

  test("has the password that it was given last, which nobody finds in the server", async () => {
    const { url } = opened();
    const user = `rôle "${randomBytes(4).toString("hex")}"`;
    const grants = await linkGrants("edge");
    for (const password of ["first's \\", "second 'one'"]) {
      await giveLogin(url, { user, password }, grants);
      const own = Object.assign(new URL(url), { username: user, password: encodeURIComponent(password) });
      await sql(own.href, "SELECT FROM links");
      const kept = await sql(url, `SELECT rolpassword FROM pg_authid WHERE rolname = '${user}'`);
      expect(JSON.stringify(kept)).toContain('"SCRAM-SHA-256$4096:');
    }
    const before = Object.assign(new URL(url), {
      username: user,
      password: encodeURIComponent("first's \\"),
    });
    await expect(sql(before.href, "SELECT")).rejects.toMatchObject({ code: "28P01" });
    await sql(
      url,
      `DROP OWNED BY "${user.replaceAll('"', '""')}"; DROP ROLE "${user.replaceAll('"', '""')}"`,
    );
  });

  test("is nobody who may do more anyway, and has a password that all programs spell alike", async () => {
    const { url } = opened();
    const owner = decodeURIComponent(new URL(url).username);
    await expect(giveLogin(url, { user: owner, password: "x" }, "")).rejects.toMatchObject({
      code: "invalid",
    });
    await expect(giveLogin(url, { user: "a", password: "ü" }, "")).rejects.toThrow("password takes");
    await expect(giveLogin(url, { user: "a", password: "" }, "")).rejects.toThrow("password takes");
  });
});
