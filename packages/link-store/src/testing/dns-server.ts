import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A name server over UDP on this machine (RFC 1035), for TXT records. */
export interface DnsServer extends AsyncDisposable {
  /** `address:port`. */
  readonly address: string;
  /** The pieces of each TXT record of a name; a name that is not there does not exist. */
  readonly texts: Map<string, readonly (readonly string[])[]>;
  /** While true it takes questions and gives no answer. */
  silent: boolean;
  /** How many questions it was asked. */
  asked: number;
}

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const server: DnsServer = {
    address: `127.0.0.1:${socket.address().port}`,
    texts: new Map(),
    silent: false,
    asked: 0,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
  socket.on("message", (question, { port, address }) => {
    server.asked += 1;
    if (!server.silent) socket.send(answerTo(question, server.texts), port, address);
  });
  return server;
}

const headerBytes = 12;

function answerTo(message: Buffer, texts: DnsServer["texts"]): Buffer {
  const labels: string[] = [];
  let end = headerBytes;
  for (let length = message.readUInt8(end); length > 0; length = message.readUInt8(end)) {
    labels.push(message.toString("latin1", end + 1, end + 1 + length));
    end += 1 + length;
  }
  // The name's final zero, type and class.
  const question = message.subarray(headerBytes, end + 5);
  const records = texts.get(labels.join("."));
  const header = Buffer.alloc(headerBytes);
  message.copy(header, 0, 0, 2);
  // An answer, recursion asked for and available; 3: there is no such name.
  header.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records?.length ?? 0, 6);
  return Buffer.concat([header, question, ...(records ?? []).map(txtRecord)]);
}

function txtRecord(pieces: readonly string[]): Buffer {
  const data = Buffer.concat(pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece)])));
  // The name is the question's; TXT, IN, not to be kept.
  const head = Buffer.from([0xc0, headerBytes, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
