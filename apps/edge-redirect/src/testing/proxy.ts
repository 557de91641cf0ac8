const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** A PROXY protocol header of version 2; without more words, one that speaks for a visitor over TCP and IPv4. */
export function binaryHeader({
  command = 0x21,
  family = 0x11,
  tail,
}: {
  command?: number;
  family?: number;
  tail: Buffer;
}): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(tail.length);
  return Buffer.concat([signature, Buffer.of(command, family), length, tail]);
}
