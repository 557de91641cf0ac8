import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { Connection, Submittable } from "pg";

/** A CopyData message's first byte; the length behind it counts itself. */
const copyData = "d".charCodeAt(0);
const copyDone = Buffer.from("c\0\0\0\u0004", "latin1");

/**
 * Statements that the server takes as one transaction, and what the `COPY … FROM STDIN` among them reads. For a client's
 * `query`, which knows of COPY no more than that it exists; the methods are those that it calls.
 */
export class CopyIn implements Submittable {
  readonly #statements: string;
  readonly #body: Iterable<Buffer>;
  readonly #outcome = Promise.withResolvers<void>();
  #failed = false;

  constructor(statements: string, body: Iterable<Buffer>) {
    this.#statements = statements;
    this.#body = body;
  }

  /** Resolves when the transaction is committed; rejects with the server's or the connection's error. */
  get committed(): Promise<void> {
    return this.#outcome.promise;
  }

  submit(connection: Connection): void {
    connection.query(this.#statements);
  }

  handleCopyInResponse(connection: Connection): void {
    this.#send(connection.stream).catch((error: unknown) => this.handleError(error));
  }

  handleError(error: unknown): void {
    this.#failed = true;
    this.#outcome.reject(error);
  }

  handleReadyForQuery(): void {
    this.#outcome.resolve();
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}

  /** As fast as the server reads. What follows an error, it drops. */
  async #send(stream: Duplex): Promise<void> {
    for (const chunk of this.#body) {
      if (this.#failed) return;
      const head = Buffer.allocUnsafe(5);
      head.writeUInt8(copyData);
      head.writeInt32BE(chunk.length + 4, 1);
      stream.write(head);
      if (!stream.write(chunk)) await once(stream, "drain");
    }
    if (!this.#failed) stream.write(copyDone);
  }
}
