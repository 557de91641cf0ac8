import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { sendRaw, visit } from "./testing/http.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

/** As a socket names it, in hex, and as the four bytes it is. */
const address = "127.113.99.241";
const spellings = [address, "7f7163f1", "7f71:63f1", "2138137585"].flatMap((text) => [
  Buffer.from(text),
  Buffer.from(text, "utf16le"),
]);
const forms = [...spellings, Buffer.from([127, 113, 99, 241])];

/** Every answer there is; gives all that the edge says of itself until it has left. */
async function visitAndStop(edge: EdgeProcess): Promise<string> {
  // A proxy in front names the visitor too.
  const headers = { "x-forwarded-for": address };
  for (const path of ["/demo", "/demo?utm_source=a", "/over", "/nothing", "/%C0%80", "/%F0%9F%8D%9E", "/"]) {
    await visit(edge.port, path, { from: address, headers });
    await visit(edge.port, path, { from: address, headers, method: "POST" });
  }
  for (const bytes of ["nonsense\r\n\r\n", `GET /${"s".repeat(17_000)} HTTP/1.1\r\n\r\n`]) {
    await sendRaw(edge.port, bytes, { from: address });
  }
  const ops = `http://127.0.0.1:${edge.opsPort}`;
  const pages = [await fetch(`${ops}/metrics`), await fetch(`${ops}/readyz`)];
  const said = await Promise.all(pages.map((page) => page.text()));
  edge.kill("SIGTERM");
  await edge.exited;
  return [...said, edge.output()].join("\n");
}

async function filesOf(journal: Journal): Promise<Buffer> {
  const files: Buffer[] = [];
  for (const entry of await readdir(journal.dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) files.push(await readFile(join(entry.parentPath, entry.name)));
  }
  return Buffer.concat(files);
}

describeWith("a visitor's address", openWorld, (world) => {
  beforeAll(async () => {
    await world().link("demo");
    await world().link("🍞");
    await world().link("over", { expiresAt: Date.now() - 1000 });
  });

  it("promise 6: is in nothing that the edge writes, logs or counts, whatever it lacks", async () => {
    await using journal = await openJournal(world().postgres.url);
    const env = { LOG_LEVEL: "debug", HOT_LINKS_EVERY_MS: "100" };
    await using edge = await journal.start({ env });
    const said = await visitAndStop(edge);

    // Without Postgres, and without room: other answers, counters and lines.
    await using lacking = await journal.start({
      env: {
        ...env,
        DATABASE_URL: "postgres://127.0.0.1:1/none",
        EVENT_LOG_URL: `journal://${journal.dir}?groups=store&reserveBytes=0&budgetBytes=1`,
      },
    });
    const saidLacking = await visitAndStop(lacking);
    expect(saidLacking).toContain('edge_clicks_refused_total{reason="full"} 3');
    // A form too: the link that nobody can look up may have a password.
    expect(saidLacking).toContain('{outcome="unavailable"} 2');
    expect(saidLacking).toContain('{outcome="gone"} 1');

    const bytes = Buffer.concat([Buffer.from(said), Buffer.from(saidLacking), await filesOf(journal)]);
    for (const form of forms) expect(bytes.includes(form)).toBe(false);
    // It was looked at, all the same: there is a visitor in every click.
    const { clicks } = await journal.read();
    expect(clicks).toHaveLength(3);
    expect(new Set(clicks.map(({ visitor }) => visitor))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]),
    );
  });
});
