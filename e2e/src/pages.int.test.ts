import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { listenOnLoopback } from "@sluice/testkit/loopback.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { afterAll, beforeAll, expect, test } from "vitest";

import { blocksOf, isRun } from "./pages/blocks.ts";
import { follow, type Place } from "./pages/read.ts";
import { openShell, type Shell } from "./pages/shell.ts";
import { createSystem, type System } from "./system.ts";
import { addressesOf } from "./webhook-soak/command.ts";

const root = join(import.meta.dirname, "../..");
const text = (page: string) => readFileSync(join(root, page), "utf8");
/** The README comes first, because others go on from the endpoint that it makes. */
const pages = ["README.md", ...globSync("{CONTRIBUTING,docs/**/*}.md", { cwd: root }).toSorted()].filter(
  (page) => blocksOf(text(page)).some(isRun),
);
/** Pages whose SQL is for Postgres: that of the links, or the clicks' own database beside it. */
const inPostgres: Readonly<Record<string, "links" | "clicks">> = {
  "docs/audit.md": "links",
  "docs/clicks-in-postgres.md": "clicks",
};
/** What a reader has, of whom pages speak. */
const world = [
  "sluice domain add go.example --workspace acme && sluice domain verify go.example --trust",
  "sluice domain add own.example",
  "for slug in spring autumn; do sluice link create https://example.com/ --domain go.example --slug $slug; done",
  "echo secret > token",
];

let resources: AsyncDisposableStack;
let system: System;
let place: Omit<Place, "query">;
let databases: Readonly<Record<"links" | "clicks", string>>;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  system = stack.use(await createSystem({ command: ["npm", "start"] }));
  const { path } = stack.use(await tempDir());
  const receiver = createServer((request, response) => request.resume().on("end", () => response.end()));
  const receiverPort = await listenOnLoopback(receiver);
  stack.defer(() => receiver.close().closeAllConnections());
  const npm = system.start();
  stack.defer(async () => {
    npm.child.kill("SIGTERM");
    await npm.ended;
  });
  await npm.up;

  const { databaseUrl } = await addressesOf(system);
  const clicks = new URL(databaseUrl);
  clicks.pathname = "/clicks";
  databases = { links: databaseUrl, clicks: clicks.href };
  const shell = await openShell(path, system.dataDir);
  for (const command of [`CLICK_STORE_URL='${clicks.href}' sluice migrate`, ...world])
    await mustWork(shell.type(command));
  await queryPostgres(databases.links, "CREATE ROLE edge");
  await queryPostgres(
    databases.clicks,
    "SELECT make_partitions('click_events', 'month', ARRAY['2024-12-01'::timestamptz])",
  );
  const ports = new Map([
    ["8080", system.ports.edge],
    ["8123", system.ports.clickhouse],
    ["9999", receiverPort],
  ]);
  place = {
    shell,
    translate: (said) =>
      said.replaceAll(/\blocalhost:(\d+)/g, (_, port: string) => `localhost:${ports.get(port) ?? port}`),
  };
  resources = stack.move();
});

afterAll(() => resources[Symbol.asyncDispose]());

async function mustWork(command: ReturnType<Shell["type"]>): Promise<void> {
  const { isWell, printed } = await command;
  if (!isWell) throw new Error(printed);
}

test.for(pages)("%s: what it says to type works, from top to bottom", async (page) => {
  const where = inPostgres[page];
  const query = (statement: string) =>
    where === undefined ? system.query(statement) : queryPostgres(databases[where], statement);
  const { ran, problems } = await follow(text(page), { ...place, query });
  expect(problems.join("\n")).toBe("");
  expect(ran).toBeGreaterThan(0);
});
