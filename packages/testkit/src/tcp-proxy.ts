import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Stands before a real server and does to its connections what networks do. */
export interface TcpProxy extends AsyncDisposable {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** Resets the connections that there are; new ones get through. */
  cut(): void;
  /** From now on no byte goes either way, on old connections and new ones, and nobody is told. */
  hang(): void;
  /** From now on what the server says is held up; what clients say goes on its way. */
  mute(): void;
  /** Calls `act` once when so many more bytes have come from clients, before the last of them are passed on. */
  afterBytes(count: number, act: () => void): void;
  /**
   * Holds up every connection whose client says this in one write: before that reaches the server, or from its answer on.
   * Resolves once the first has said it.
   */
  stopAt(text: string, when: "unheard" | "unanswered"): Promise<void>;
  /** Resets what there is, and every new connection at once. */
  refuse(): void;
  /** What was held up goes on its way, and so does all that follows. */
  flow(): void;
}

export async function openTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let hung = false;
  let muted = false;
  let refusing = false;
  const countdown = createCountdown();
  const stop = createStop();

  const server = createServer((client) => {
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    client.on("data", (bytes) => {
      countdown.count(bytes.length);
      stop.pass(bytes, client, upstream);
    });
    upstream.on("data", (bytes) => client.write(bytes));
    join(client, upstream, clients);
    join(upstream, client, upstreams);
    if (hung) client.pause();
    if (hung || muted) upstream.pause();
  });
  const port = await listen(server);
  const cut = () => {
    for (const socket of [...clients, ...upstreams]) socket.resetAndDestroy();
  };
  return {
    url: onLoopback(serverUrl, port),
    cut,
    hang() {
      hung = true;
      for (const socket of [...clients, ...upstreams]) socket.pause();
    },
    mute() {
      muted = true;
      for (const socket of upstreams) socket.pause();
    },
    afterBytes: (count, act) => countdown.start(count, act),
    stopAt: (text, when) => stop.at(text, when),
    refuse() {
      refusing = true;
      cut();
    },
    flow() {
      hung = false;
      muted = false;
      refusing = false;
      stop.lift();
      for (const socket of [...clients, ...upstreams]) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

function join(from: Socket, to: Socket, among: Set<Socket>): void {
  among.add(from);
  from.on("error", () => to.resetAndDestroy());
  from.on("close", () => {
    among.delete(from);
    to.destroy();
  });
}

function onLoopback(serverUrl: string, port: number): string {
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return url.href;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function createCountdown() {
  let pending: { left: number; readonly act: () => void } | undefined;
  return {
    start(left: number, act: () => void): void {
      pending = { left, act };
    },
    count(passed: number): void {
      if (pending === undefined) return;
      const { act } = pending;
      pending.left -= passed;
      if (pending.left > 0) return;
      pending = undefined;
      act();
    },
  };
}

function createStop() {
  let stop: { readonly text: string; readonly isHeard: boolean; readonly reached: () => void } | undefined;
  let unheard: (() => void)[] = [];
  return {
    at(text: string, when: "unheard" | "unanswered"): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      stop = { text, isHeard: when === "unanswered", reached: resolve };
      return promise;
    },
    pass(bytes: Buffer, client: Socket, upstream: Socket): void {
      const isStopped = stop !== undefined && bytes.includes(stop.text);
      if (stop === undefined || !isStopped || stop.isHeard) upstream.write(bytes);
      else unheard.push(() => upstream.write(bytes));
      if (stop === undefined || !isStopped) return;
      (stop.isHeard ? upstream : client).pause();
      stop.reached();
    },
    lift(): void {
      stop = undefined;
      for (const pass of unheard) pass();
      unheard = [];
    },
  };
}
