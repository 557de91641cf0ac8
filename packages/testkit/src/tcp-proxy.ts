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

  const server = createServer((client) => {
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    client.on("data", ({ length }) => countdown.count(length));
    join(client, upstream, clients);
    join(upstream, client, upstreams);
    if (hung) client.pause();
    if (hung || muted) upstream.pause();
  });
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(await listen(server));
  const cut = () => {
    for (const socket of [...clients, ...upstreams]) socket.resetAndDestroy();
  };
  return {
    url: url.href,
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
    refuse() {
      refusing = true;
      cut();
    },
    flow() {
      hung = false;
      muted = false;
      refusing = false;
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
  from.on("data", (bytes) => to.write(bytes));
  from.on("error", () => to.resetAndDestroy());
  from.on("close", () => {
    among.delete(from);
    to.destroy();
  });
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
