import { isIPv4 } from "node:net";

/** A value of a MaxMind database, as far as tests need them. */
type Value = string | number | readonly Value[] | { readonly [name: string]: Value };

interface Node {
  zero: Node | number | undefined;
  one: Node | number | undefined;
}

const recordBytes = 4;
const separator = Buffer.alloc(16);
const marker = Buffer.from("abcdef4d61784d696e642e636f6d", "hex");

/**
 * A small MaxMind database, after their file format 2.0: `networks` has a value for each network (`8.8.8.0/24`,
 * `2001:db8::/32`, without one inside another). In a database of IPv6, IPv4 lies below ::/96.
 */
export function makeDatabase(networks: Readonly<Record<string, Value>>, ipVersion: 4 | 6 = 6): Buffer {
  const root: Node = { zero: undefined, one: undefined };
  const data: Buffer[] = [];
  let dataBytes = 0;
  for (const [network, value] of Object.entries(networks)) {
    insert(root, bitsOf(network, ipVersion), dataBytes);
    const encoded = encode(value);
    data.push(encoded);
    dataBytes += encoded.length;
  }
  const nodes = [root];
  for (const node of nodes) {
    for (const child of [node.zero, node.one]) if (typeof child === "object") nodes.push(child);
  }
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const record = (child: Node["zero"]) => {
    const bytes = Buffer.alloc(recordBytes);
    const at = typeof child === "number" ? nodes.length + separator.length + child : nodes.length;
    bytes.writeUInt32BE(typeof child === "object" ? (numbers.get(child) ?? 0) : at);
    return bytes;
  };
  const tree = nodes.flatMap(({ zero, one }) => [record(zero), record(one)]);
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_750_000_000,
    database_type: "Test",
    description: { en: "for tests" },
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: 8 * recordBytes,
  });
  return Buffer.concat([...tree, separator, ...data, marker, metadata]);
}

function insert(root: Node, bits: string, offset: number): void {
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const side = bit === "0" ? "zero" : "one";
    const next = node[side];
    node = typeof next === "object" ? next : (node[side] = { zero: undefined, one: undefined });
  }
  node[bits.endsWith("0") ? "zero" : "one"] = offset;
}

function bitsOf(network: string, ipVersion: 4 | 6): string {
  const [address = "", length = ""] = network.split("/");
  if (!isIPv4(address)) return groups(address).slice(0, Number(length));
  const bits = address.split(".").map((part) => Number(part).toString(2).padStart(8, "0"));
  return `${ipVersion === 6 ? "0".repeat(96) : ""}${bits.join("").slice(0, Number(length))}`;
}

function groups(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const [before, behind] = [head.split(":"), tail === "" ? [] : tail.split(":")];
  const between = Array.from({ length: 8 - before.length - behind.length }, () => "0");
  const parts = [...before, ...between, ...behind];
  return parts.map((part) => Number.parseInt(part, 16).toString(2).padStart(16, "0")).join("");
}

function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([control(2, text.length), text]);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const pairs = Object.entries(value);
  return Buffer.concat([control(7, pairs.length), ...pairs.flatMap((pair) => pair.map(encode))]);
}

/** Type and size; sizes up to 28 are all that tests need. */
function control(type: number, size: number): Buffer {
  return Buffer.from(type < 8 ? [(type << 5) | size] : [size, type - 7]);
}
