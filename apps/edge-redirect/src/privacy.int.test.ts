import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, expect, it } from "vitest";

import { sendRaw, visit } from "./testing/http.ts";
import { openJournal, openWorld } from "./testing/world.ts";

/** As a socket names it, in hex, and as the four bytes it is. */
const address = "127.113.99.241";
const spellings = [address, "7f7163f1", "7f71:63f1", "2138137585"].flatMap((text) => [
  Buffer.from(text),
  Buffer.from(text, "utf16le"),
]);
const forms = [...spellings, Buffer.from([127, 113, 99, 241])];

describeWith("a visitor's address", openWorld, (world) => {
  beforeAll(async () => {
    await world().link("demo");
    await world().link("🍞");
  });

  it("promise 6: is in nothing that the edge writes, logs or counts", async () => {
    await using journal = await openJournal(world().postgres.url);
    await using edge = await journal.start({ env: { LOG_LEVEL: "debug", HOT_LINKS_EVERY_MS: "100" } });
    for (const path of ["/demo", "/demo?utm_source=a", "/nothing", "/%C0%80", "/%F0%9F%8D%9E", "/"]) {
      await visit(edge.port, path, { from: address });
      await visit(edge.port, path, { from: address, method: "POST" });
    }
    await sendRaw(edge.port, "nonsense\r\n\r\n");
    const metrics = await (await fetch(`http://127.0.0.1:${edge.opsPort}/metrics`)).text();
    edge.kill("SIGTERM");
    await edge.exited;

    const written = [Buffer.from(metrics), Buffer.from(edge.output())];
    for (const entry of await readdir(journal.dir, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) written.push(await readFile(join(entry.parentPath, entry.name)));
    }
    const bytes = Buffer.concat(written);
    for (const form of forms) expect(bytes.includes(form)).toBe(false);
    // It was looked at, all the same: there is a visitor in every click.
    const { clicks } = await journal.read();
    expect(clicks).toHaveLength(3);
    expect(new Set(clicks.map(({ visitor }) => visitor))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]),
    );
  });
});
