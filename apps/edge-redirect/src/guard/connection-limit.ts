import type { Server } from "node:http";
import type { Socket } from "node:net";

import { networkOf } from "../capture/visitor-hash.ts";
import { unmap } from "../client/address.ts";
import type { IsTrusted } from "../client/trusted-proxies.ts";
import type { ServerMetrics } from "../server/metrics.ts";
import { createHolders, type Holder } from "./holders.ts";

export interface ConnectionLimit {
  readonly max: number;
  /** These hold connections for many. */
  readonly isTrusted: IsTrusted;
}

interface Connection {
  readonly socket: Socket;
  /** `undefined` for a proxy's. */
  readonly holder: Holder<Connection> | undefined;
  /** How many listeners its socket has while no request is in hand. */
  readonly idleListeners: number;
}

/**
 * Counts the connections of visitors, and when there are more than `max` closes one of those who hold the most: so
 * whoever opens thousands loses their own, and a newcomer gets in. IPv6 addresses count by their /64. An idle
 * connection goes before one whose request is in hand, the oldest first.
 */
export function limitConnections(server: Server, limit: ConnectionLimit, metrics: ServerMetrics): void {
  const { max, isTrusted } = limit;
  const holders = createHolders<Connection>();
  const open = new Set<Connection>();

  function join(socket: Socket): Connection {
    const peer = unmap(socket.remoteAddress ?? "");
    const holder = isTrusted(peer) ? undefined : holders.holder(networkOf(peer));
    const connection = { socket, holder, idleListeners: socket.listenerCount("close") };
    open.add(connection);
    if (holder !== undefined) holders.add(holder, connection);
    return connection;
  }
  /** As soon as it is to be closed: the socket says so only later, and others may come before. */
  function leave(connection: Connection): void {
    if (!open.delete(connection)) return;
    metrics.connections.dec();
    if (connection.holder !== undefined) holders.remove(connection.holder, connection);
  }
  function drop(newcomer: Connection): void {
    // Where only proxies hold connections there is nobody to take one from.
    const victim = holders.find(isIdle) ?? holders.find(() => true) ?? newcomer;
    metrics.clientError(isIdle(victim) ? "idle_dropped" : "busy_dropped");
    leave(victim);
    victim.socket.destroy();
  }

  server.on("connection", (socket) => {
    metrics.connections.inc();
    socket.once("close", () => leave(connection));
    const connection = join(socket);
    if (open.size > max) drop(connection);
  });
}

/**
 * Node listens to the close of a connection once more for as long as an answer on it is due. To count requests and
 * answers instead would cost every visit.
 */
function isIdle({ socket, idleListeners }: Connection): boolean {
  return socket.listenerCount("close") <= idleListeners;
}
