import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";

import { StatementError } from "./statement.ts";

/** A request's body, uncompressed. */
export interface Body {
  /** Its beginning: more than `headBytes`, or all of it. */
  readonly head: Buffer;
  /** Whether there is more than the head. */
  readonly more: boolean;
  /** What comes after the head; can be read once. */
  readonly rest: AsyncIterable<Buffer>;
}

/** Resolves when the head is there. */
export async function readBody(request: IncomingMessage, headBytes: number): Promise<Body> {
  const chunks = decoded(request);
  const head: Buffer[] = [];
  let bytes = 0;
  let more = true;
  while (more && bytes <= headBytes) {
    const next = await chunks.next();
    if (next.done === true) more = false;
    else {
      head.push(next.value);
      bytes += next.value.length;
    }
  }
  return { head: Buffer.concat(head), more, rest: chunks };
}

async function* decoded(request: IncomingMessage): AsyncGenerator<Buffer> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  const decoder = decoders.get(encoding);
  if (decoder === undefined) {
    throw new StatementError(89, "UNKNOWN_COMPRESSION_METHOD", `Unknown Content-Encoding: ${encoding}`);
  }
  const stream: Readable = decoder(request);
  try {
    // Whoever stops reading half-way still wants to answer, on the same connection.
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      if (Buffer.isBuffer(chunk)) yield chunk;
    }
  } catch (cause) {
    if (request.errored !== null) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StatementError(354, "ZLIB_INFLATE_FAILED", `The body cannot be decompressed: ${why}`);
  }
}

const decoders = new Map<string, (request: IncomingMessage) => Readable>([
  ["identity", (request) => request],
  ["gzip", (request) => through(request, createGunzip())],
  ["deflate", (request) => through(request, createInflate())],
  ["br", (request) => through(request, createBrotliDecompress())],
  ["zstd", (request) => through(request, createZstdDecompress())],
]);

function through<D extends NodeJS.ReadWriteStream & Readable>(request: IncomingMessage, decoder: D): D {
  // The decoder fails when the request does, and is what gets read: nobody needs the error twice.
  pipeline(request, decoder, () => {});
  return decoder;
}
