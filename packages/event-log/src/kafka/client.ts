import { connect, type Socket } from "node:net";
import type { Log } from "@sluice/service/log.ts";
import { Kafka, logLevel } from "kafkajs";
import type { KafkaSettings } from "./url.ts";

export interface Client {
  readonly kafka: Kafka;
  /**
   * Ends every connection now. The driver's own `disconnect` may wait for an answer that never comes, and a
   * request after it opens a connection that keeps the process alive.
   */
  destroy(): void;
}

/**
 * A driver instance of its own for each producer, reader and admin: consumers of one group that share an instance
 * share, and clear, one table of offsets. `retries` is how often the driver tries again to reach the cluster.
 */
export function createClient(settings: KafkaSettings, log: Log, retries: number): Client {
  const sockets = new Set<Socket>();
  let destroyed = false;
  const kafka = new Kafka({
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    // A broker in another region answers in a few hundred milliseconds.
    connectionTimeout: 3000,
    // Above what a broker may take to have a record replicated (the producer's `timeout`).
    requestTimeout: 15_000,
    retry: { retries, initialRetryTime: 200, maxRetryTime: 2000 },
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port }, onConnect);
      socket.setKeepAlive(true, 60_000);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      if (destroyed) socket.destroy();
      return socket;
    },
    logLevel: logLevel.INFO,
    // The driver reports the same trouble at every retry; what matters is said once, by whoever gets the error.
    logCreator: () => (entry) => {
      log.debug({ namespace: entry.namespace, detail: entry.log.message }, "kafka driver");
    },
  });
  return {
    kafka,
    destroy() {
      destroyed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
