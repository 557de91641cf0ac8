import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { seeded } from "@sluice/testkit/seed.ts";

// A customer's server, which `receiver.ts` starts: `node receiver-process.ts HOST [SEED [MOOD]]`. It tells its parent what it
// stored.

const [, , host, seed, only] = process.argv;
/** Without a seed it has no moods. */
const random = seed === undefined ? () => 1 : seeded(Number(seed));
const seen = new Set<string>();

/** What may go wrong with the first request for a delivery; one that is repeated is taken, so that the soak comes to an end. */
const moods: readonly [
  share: number,
  kind: string,
  act: (response: ServerResponse, store: () => void) => void,
][] = [
  [0.03, "failed", (response) => void response.writeHead(503).end()],
  [0.004, "hung", () => {}],
  [0.01, "slow", (response, store) => void delay(3_000).then(() => take(response, store))],
  [0.01, "cut", (response) => void response.destroy()],
  [
    0.01,
    "cut after it was stored",
    (response, store) => {
      store();
      response.destroy();
    },
  ],
  [0.003, "told to wait", (response) => void response.writeHead(429, { "retry-after": "2" }).end()],
];

const server = createServer((request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  read(request).then(
    (body) => answer(request, response, body),
    () => {},
  );
});
server.listen(0, host, () => tell({ port: portOf() }));
process.once("disconnect", () => process.exit());

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
  const mark = Number(searchParams.get("mark") ?? /"content":"(\d+)"/.exec(body)?.[1]);
  const store = () => tell({ path: pathname, mark, id: String(request.headers["webhook-id"] ?? "") });
  // A test of the target itself.
  if (!(mark > 0)) return void response.writeHead(200).end();
  const pair = `${pathname} ${mark}`;
  const isFirst = !seen.has(pair);
  seen.add(pair);
  let dice = random();
  for (const [share, kind, act] of moods) {
    dice -= share;
    if (dice >= 0 || !isFirst || (only !== undefined && kind !== only)) continue;
    tell({ kind });
    return act(response, store);
  }
  take(response, store);
}

/** It is stored even where nobody waits for the answer any more. */
function take(response: ServerResponse, store: () => void): void {
  store();
  response.writeHead(200).end();
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function portOf(): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return address.port;
}

function tell(message: object): void {
  process.send?.(message);
}
