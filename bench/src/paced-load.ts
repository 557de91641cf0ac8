import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { seeded } from "./random.ts";

export interface Load {
  readonly port: number;
  /** Sent one after another, over and over. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** How long after its end answers are still waited for. */
const graceMs = 5_000;
/** A turn of this loop every millisecond: what came due meanwhile goes out at once, as through a network card. */
const turnMs = 1;

/**
 * Open-loop load: visitors arrive at random (gaps are exponential), whether or not those before them were answered,
 * and wait for a free connection when all are taken. Resolves to the number of requests when each was answered by a
 * redirect; rejects when one was not, or when the load could not be sent at its rate.
 */
export async function pacedLoad({
  port,
  requests,
  connections,
  rate,
  seconds,
  signal,
}: Load): Promise<number> {
  using lanes = openLanes(port, connections);
  await lanes.connected();
  const random = seeded(3);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let dueAt = startedAt;
  let due = 0;
  let sent = 0;
  for (let now = startedAt; now < endsAt; now = performance.now()) {
    signal.throwIfAborted();
    while (dueAt <= now) {
      due += 1;
      dueAt += (-Math.log(1 - random()) * 1_000) / rate;
    }
    while (sent < due && lanes.send(requests[sent % requests.length] ?? "")) sent += 1;
    await delay(turnMs);
  }
  if (sent < due * 0.99) throw new Error(`load: ${sent} of ${due} requests could be sent in time`);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(graceMs)]);
  while (lanes.answered() < sent) await delay(turnMs, undefined, { signal: deadline });
  return sent;
}

/** Connections that each carry one request at a time. */
function openLanes(port: number, count: number) {
  const free: Socket[] = [];
  let answered = 0;
  let failure: Error | undefined;
  const fail = (error: Error) => (failure ??= error);

  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let begun = false;
    socket.on("connect", () => free.push(socket));
    socket.on("data", (chunk: Buffer) => {
      const start = chunk.toString("latin1", 0, 12);
      if (!begun && start !== "HTTP/1.1 302") fail(new Error(`load: an answer begins "${start}"`));
      // A redirect has no body: it ends with its headers.
      begun = chunk.toString("latin1", chunk.length - 4) !== "\r\n\r\n";
      if (begun) return;
      answered += 1;
      free.push(socket);
    });
    socket.on("close", () => fail(new Error("load: a connection was closed")));
    socket.on("error", fail);
    return socket;
  });
  return {
    connected: () => Promise.all(sockets.map((socket) => once(socket, "connect"))),
    /** False when no connection is free. */
    send(request: string): boolean {
      if (failure !== undefined) throw failure;
      const socket = free.shift();
      socket?.write(request, "latin1");
      return socket !== undefined;
    },
    answered(): number {
      if (failure !== undefined) throw failure;
      return answered;
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
