import { once } from "node:events";
import { connect } from "node:net";

/**
 * Asks a broker for the cluster's metadata and resolves to how many brokers it knows to be alive. This much of the
 * protocol saves this package a client: a request is its length, its kind and version, a number and the client's name;
 * the answer to version 5 is its length, the number, a delay, and the list of brokers.
 */
export async function countBrokers(port: number, signal: AbortSignal): Promise<number> {
  const socket = connect({
    host: "127.0.0.1",
    port,
    signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
  });
  try {
    await once(socket, "connect");
    const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + 4 + 1);
    request.writeInt32BE(request.length - 4, 0);
    request.writeInt16BE(3, 4); // METADATA
    request.writeInt16BE(5, 6); // version
    request.writeInt32BE(1, 8); // number
    request.writeInt16BE(-1, 12); // no name
    request.writeInt32BE(0, 14); // no topics; and 0: none is to be made
    socket.write(request);
    let answer = Buffer.alloc(0);
    for await (const chunk of socket) {
      if (Buffer.isBuffer(chunk)) answer = Buffer.concat([answer, chunk]);
      if (answer.length >= 16) return answer.readInt32BE(12);
    }
    throw new Error(`the broker on port ${port} closed the connection`);
  } finally {
    socket.destroy();
  }
}
