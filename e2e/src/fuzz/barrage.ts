import { connect, type Socket } from "node:net";

import { createScripts, type Script } from "./requests.ts";

export interface Barrage {
  readonly sent: number;
  readonly connections: number;
  /** How many answers of each status came back. */
  readonly statuses: ReadonlyMap<number, number>;
  /** How many connections were not taken. */
  readonly refused: number;
}

/** Four requests of each may wait for Postgres at a time: fewer than the edge would turn away. */
const connectionsAtATime = 48;
/** An answer comes within some ms; what has none by then waits for the rest of a request. */
const quietMs = 150;

/** Sends at least so many requests to an edge, many connections at a time; stops when it takes no connection. */
export async function startBarrage(
  port: number,
  { requests, random }: { requests: number; random: () => number },
): Promise<Barrage> {
  const next = createScripts(random);
  const statuses = new Map<number, number>();
  let sent = 0;
  let connections = 0;
  let refused = 0;

  async function keepSending(): Promise<void> {
    while (sent < requests && refused === 0) {
      const script = next();
      sent += script.requests;
      connections += 1;
      const answers = await play(port, script);
      if (answers === undefined) refused += 1;
      for (const [, status] of (answers ?? "").matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
        statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
      }
    }
  }
  await Promise.all(Array.from({ length: connectionsAtATime }, keepSending));
  return { sent, connections, statuses, refused };
}

/** All that comes back until the edge closes the connection or is quiet; `undefined` when it takes none. */
function play(port: number, { bytes, cuts }: Script): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer: string | undefined;
    const socket = connect(port, "127.0.0.1", () => {
      answer = "";
      socket.setTimeout(quietMs);
      send(
        socket,
        [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index])),
      );
    });
    socket.on("data", (data: Buffer) => (answer += data.toString("latin1")));
    socket.on("timeout", () => socket.destroy());
    // One that is reset has been answered, or was not understood.
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

/** In segments of their own, as far as the network has its way. */
function send(socket: Socket, [first, ...rest]: readonly Buffer[]): void {
  if (first === undefined || socket.destroyed) return;
  socket.write(first);
  setImmediate(send, socket, rest);
}
