import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Log } from "@sluice/service/log.ts";
import kafkajs, { type Kafka, type SASLOptions } from "kafkajs";
import { enableZstd } from "./compression.ts";
import type { KafkaLogin, KafkaSettings } from "./url.ts";

/** As the driver has it, said out loud: it has other defaults where NODE_ENV is "test". */
export const backOff = { initialRetryTime: 200, maxRetryTime: 2000, factor: 0.2, multiplier: 2 };

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
 * share, and clear, one table of offsets.
 */
export function createClient(settings: KafkaSettings, log: Log): Client {
  const sockets = new Set<Socket>();
  let destroyed = false;
  enableZstd();
  const { sasl, tls } = settings;
  const kafka = new kafkajs.Kafka({
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    ...(sasl !== undefined && { sasl: saslOptions(sasl) }),
    // A broker in another region answers in a few hundred milliseconds.
    connectionTimeout: 3000,
    // Above what a broker may take to have a record replicated (the producer's `timeout`).
    requestTimeout: 15_000,
    // Each of the addresses once: whoever asked decides whether to ask again, and for how long.
    retry: { ...backOff, retries: settings.brokers.length - 1, initialRetryTime: 20 },
    socketFactory: ({ host, port, onConnect }) => {
      const socket =
        tls === undefined
          ? connect({ host, port }, onConnect)
          : // An address is no name that a server could be asked for.
            connectTls({ host, port, ...tls, ...(isIP(host) === 0 && { servername: host }) }, onConnect);
      socket.setKeepAlive(true, 60_000);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      // Destroying it is an error below, which the driver may no longer listen for.
      socket.on("error", () => {});
      if (destroyed) destroy(socket);
      return socket;
    },
    logLevel: kafkajs.logLevel.INFO,
    // The driver reports the same trouble at every retry; what matters is said once, by whoever gets the error.
    logCreator: () => (entry) => {
      log.debug({ namespace: entry.namespace, detail: entry.log.message }, "kafka driver");
    },
  });
  return {
    kafka,
    destroy() {
      destroyed = true;
      for (const socket of sockets) destroy(socket);
    },
  };
}

/** The driver's type has one shape a mechanism. */
function saslOptions({ mechanism, ...login }: KafkaLogin): SASLOptions {
  if (mechanism === "plain") return { mechanism, ...login };
  if (mechanism === "scram-sha-256") return { mechanism, ...login };
  return { mechanism, ...login };
}

/** With an error, or the driver would let what it has asked wait for its time-out. */
function destroy(socket: Socket): void {
  socket.destroy(new Error("the connection was given up"));
}
