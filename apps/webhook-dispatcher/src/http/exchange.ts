import type { Dispatcher } from "undici";
import { headersOf, textOf } from "./answer.ts";
import type { Connection } from "./connections.ts";
import type { FailureCode, HttpReply } from "./http-client.ts";
import { DialError } from "./dial-error.ts";

/** Read of an answer's body; the status decides, so the rest is not waited for. */
const maxBodyBytes = 65_536;

export interface ExchangeLimits {
  /** From the request being written to the answer's headers. */
  readonly headersMs: number;
  /** From there to the end of its body. */
  readonly bodyMs: number;
}

/** One request on one connection: undici tells it what happens, and it calls `end` once. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #limits: ExchangeLimits;
  readonly #showBody: boolean;
  readonly #end: (reply: HttpReply) => void;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isWritten = false;
  #isEnded = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    connection: Connection,
    options: { limits: ExchangeLimits; showBody: boolean; end: (reply: HttpReply) => void },
  ) {
    this.#connection = connection;
    this.#limits = options.limits;
    this.#showBody = options.showBody;
    this.#end = options.end;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici would write it again where it thinks that harmless; that is for the caller to decide.
    if (this.#isWritten || this.#isEnded) return controller.abort(new Error("not again"));
    this.#isWritten = true;
    this.#timer = setTimeout(() => this.fail("timeout"), this.#limits.headersMs);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx: the answer is still to come, and in the same time.
    if (status < 200 || this.#isEnded) return;
    this.#status = status;
    this.#headers = headersOf(headers);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#answer("cut"), this.#limits.bodyMs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isEnded) return;
    if (this.#showBody) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBodyBytes) this.#answer("cut");
  }

  onResponseEnd(): void {
    this.#answer("whole");
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#status > 0) this.#answer("cut");
    else this.fail(codeOf(error));
  }

  /** Ends it, whatever it is at; nothing when it has ended. */
  fail(code: FailureCode): void {
    if (!this.#finish()) return;
    this.#connection.close();
    this.#end({ kind: "failure", code, maybeReceived: this.#isWritten, durationMs: this.#durationMs() });
  }

  #answer(how: "whole" | "cut"): void {
    if (!this.#finish()) return;
    if (how === "whole") this.#connection.keep();
    else this.#connection.close();
    const body = textOf(Buffer.concat(this.#chunks).subarray(0, maxBodyBytes), this.#headers);
    this.#end({
      kind: "answer",
      status: this.#status,
      headers: this.#headers,
      body,
      ...(how === "cut" ? { cut: true } : {}),
      durationMs: this.#durationMs(),
    });
  }

  /** False when it has ended before. */
  #finish(): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    return true;
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }
}

function codeOf(error: Error): FailureCode {
  if (error instanceof DialError) return error.code;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "UND_ERR_HEADERS_OVERFLOW") return "headers-too-large";
  if (unsendable.has(code)) return "invalid-request";
  if (error.name === "HTTPParserError" || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH")
    return "invalid-answer";
  // "bad response", "bad upgrade": a 100 or 101 that nobody asked for.
  if (code === "UND_ERR_SOCKET" && error.message.startsWith("bad ")) return "invalid-answer";
  return "connection-closed";
}

/** A header that cannot be sent, or that the connection decides on and not we. */
const unsendable = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
]);
