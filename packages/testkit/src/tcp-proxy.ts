import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Stands before a real server and does to its connections what networks do. */
export interface TcpProxy extends AsyncDisposable {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** Resets the connections that there are; new ones get through. */
  cut(): void;
  /** From now on no byte goes either way, on old connections and new ones, and nobody is told. */
  hang(): void;
  /** Resets what there is, and every new connection at once. */
  refuse(): void;
  /** What was held up goes on its way, and so does all that follows. */
  flow(): void;
}

export async function openTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let hung = false;
  let refusing = false;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on("data", (bytes) => to.write(bytes));
    from.on("error", () => to.resetAndDestroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    if (hung) from.pause();
  }
  const server = createServer((client) => {
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    join(client, upstream);
    join(upstream, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = new URL(serverUrl);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: url.href,
    cut,
    hang() {
      hung = true;
      for (const socket of sockets) socket.pause();
    },
    refuse() {
      refusing = true;
      cut();
    },
    flow() {
      hung = false;
      refusing = false;
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
