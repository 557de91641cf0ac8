import { createServer, type Server } from "node:net";
import { listen } from "@sluice/service/listen.ts";
import { expect, test } from "vitest";
import { ClickStoreError } from "../click-store.ts";
import { connect } from "./connection.ts";

test("a server that dies while rows are sent to it is tried again, and the rows are not blamed", async () => {
  const dies = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
  const error = await insertInto(
    dies,
    Array.from({ length: 100 }, () => Buffer.alloc(1_000_000, "x")),
  );
  expect(error).toBeInstanceOf(ClickStoreError);
  expect(error).toMatchObject({ class: "retry" });
});

test("rows that cannot be encoded are a bug, and not a broken connection", async () => {
  const listens = createServer((socket) => socket.resume().on("error", () => undefined));
  const error = await insertInto(listens, breaksOff());
  expect(error).not.toBeInstanceOf(ClickStoreError);
  expect(error).toMatchObject({ message: "the rows cannot be encoded" });
});

async function insertInto(server: Server, body: Iterable<Buffer>): Promise<unknown> {
  const port = await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" });
  await using connection = connect(`http://127.0.0.1:${port}`);
  const options = { id: "id", settings: {}, signal: new AbortController().signal };
  const inserted = connection.insert("INSERT INTO t FORMAT JSONCompactEachRow", body, options);
  const error = await inserted.catch((reason: unknown) => reason);
  server.close();
  return error;
}

function* breaksOff() {
  yield Buffer.alloc(1_000_000, "x");
  throw new Error("no such column");
}
