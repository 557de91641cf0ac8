import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";

/** A name server over UDP on this machine (RFC 1035), for TXT records and addresses. */
export interface DnsServer extends AsyncDisposable {
  /** `address:port`. */
  readonly address: string;
  /** The pieces of each TXT record of a name; a name that is not there does not exist. */
  readonly texts: Map<string, readonly (readonly string[])[]>;
  /** The addresses of a name, made anew for each question by a function; a name among them is an alias (CNAME). */
  readonly hosts: Map<string, readonly string[] | (() => readonly string[])>;
  /** While true it takes questions and gives no answer; or only those for IPv6 addresses. */
  silent: boolean | "AAAA";
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
    hosts: new Map(),
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
    const isSilent = server.silent === "AAAA" ? typeOf(question) === types.AAAA : server.silent;
    if (!isSilent) socket.send(answerTo(question, server), port, address);
  });
  return server;
}

const headerBytes = 12;
const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const;

function answerTo(message: Buffer, { texts, hosts }: DnsServer): Buffer {
  const labels: string[] = [];
  let end = headerBytes;
  for (let length = message.readUInt8(end); length > 0; length = message.readUInt8(end)) {
    labels.push(message.toString("latin1", end + 1, end + 1 + length));
    end += 1 + length;
  }
  const name = labels.join(".");
  const type = typeOf(message);
  // The name's final zero, type and class.
  const question = message.subarray(headerBytes, end + 5);
  const isKnown = texts.has(name) || hosts.has(name);
  const records = type === types.TXT ? textRecords(name, texts) : hostRecords(name, type, hosts);
  const header = Buffer.alloc(headerBytes);
  message.copy(header, 0, 0, 2);
  // An answer, recursion asked for and available; 3: there is no such name.
  header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

/** Nothing comes after the question but, perhaps, the options of EDNS, which are a record of their own. */
function typeOf(message: Buffer): number {
  return message.readUInt16BE(message.indexOf(0, headerBytes) + 1);
}

function textRecords(name: string, texts: DnsServer["texts"]): Buffer[] {
  return (texts.get(name) ?? []).map((pieces) => {
    const data = pieces.map((piece) => Buffer.from([piece.length, ...Buffer.from(piece)]));
    return record(name, types.TXT, Buffer.concat(data));
  });
}

function hostRecords(name: string, type: number, hosts: DnsServer["hosts"]): Buffer[] {
  const found = hosts.get(name) ?? [];
  return (typeof found === "function" ? found() : found).flatMap((value) => {
    if (isIP(value) === 0)
      return [record(name, types.CNAME, encoded(value)), ...hostRecords(value, type, hosts)];
    return (isIP(value) === 4 ? types.A : types.AAAA) === type
      ? [record(name, type, addressBytes(value))]
      : [];
  });
}

/** Class IN, not to be kept. */
function record(name: string, type: number, data: Buffer): Buffer {
  const head = Buffer.from([0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), head, data]);
}

function encoded(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  // As URLs write it, an embedded IPv4 address is in hex.
  const [before = "", after = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const zeros = 8 - groups(before).length - groups(after).length;
  const all = [...groups(before), ...Array.from({ length: zeros }, () => "0"), ...groups(after)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
