import { createConnections } from "./connections.ts";
import { Exchange, type ExchangeLimits } from "./exchange.ts";
import type { FailureCode, HttpClient, HttpReply, HttpRequest } from "./http-client.ts";
import { createResolve } from "./resolve.ts";

export interface HttpClientOptions {
  /** Also `http:`, where anybody on the way reads along. */
  readonly allowHttp: boolean;
  /** Those that may be connected to. */
  readonly ports: readonly number[] | "any";
  readonly userAgent: string;
  /** `address` or `address:port`; the machine's own without any. */
  readonly nameServers?: readonly string[];
  /** Trusted instead of the usual authorities, PEM. */
  readonly ca?: string;
  readonly limits?: HttpLimits;
}

export interface HttpLimits extends ExchangeLimits {
  /** Within `connectMs`. */
  readonly dnsMs: number;
  readonly connectMs: number;
}

/** 15 s in all, as each begins where the one before has ended. */
export const httpLimits: HttpLimits = { dnsMs: 2_000, connectMs: 3_000, headersMs: 10_000, bodyMs: 2_000 };

/** Makes the client that all customers' URLs are called through. Bounds nothing but idle connections: callers do. */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  const { userAgent, nameServers, ca, limits = httpLimits } = options;
  const resolve = createResolve({
    timeoutMs: limits.dnsMs,
    ...(nameServers === undefined ? {} : { nameServers }),
  });
  const connections = createConnections({
    resolve,
    connectMs: limits.connectMs,
    ...(ca === undefined ? {} : { ca }),
  });
  const underWay = new Set<Exchange>();
  let isClosed = false;

  function exchange(request: HttpRequest, url: URL, signal: AbortSignal): Promise<HttpReply> {
    const { promise, resolve: settle } = Promise.withResolvers<HttpReply>();
    const { method, headers, body, allowPrivate } = request;
    const connection = connections.take(url.origin, allowPrivate);
    const abort = (): void => under.fail("aborted");
    const under = new Exchange(connection, {
      limits,
      // What stands in a private network is not for a customer to read.
      showBody: !allowPrivate,
      end(reply) {
        signal.removeEventListener("abort", abort);
        underWay.delete(under);
        settle(reply);
      },
    });
    signal.addEventListener("abort", abort);
    underWay.add(under);
    connection.client.dispatch(
      {
        method,
        path: url.pathname + url.search,
        headers: { ...headers, "user-agent": userAgent, "accept-encoding": "identity" },
        ...(body === undefined ? {} : { body }),
      },
      under,
    );
    return promise;
  }

  return {
    async send(request, signal) {
      if (signal.aborted || isClosed) return failure("aborted");
      const url = URL.parse(request.url);
      // By it the receiver's name in the TLS handshake would be another than the one that was looked up.
      if (url === null || "host" in request.headers) return failure("invalid-request");
      return isAllowed(url, options) ? exchange(request, url, signal) : failure("address-not-allowed");
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const each of underWay) each.fail("aborted");
      connections[Symbol.dispose]();
    },
  };
}

/** As far as its text says; the address is judged when it is dialled. */
function isAllowed(url: URL, { allowHttp, ports }: HttpClientOptions): boolean {
  const isHttp = url.protocol === "http:";
  const port = url.port === "" ? (isHttp ? 80 : 443) : Number(url.port);
  return (
    (url.protocol === "https:" || (isHttp && allowHttp)) &&
    (ports === "any" || ports.includes(port)) &&
    url.username === "" &&
    url.password === ""
  );
}

function failure(code: FailureCode): HttpReply {
  return { kind: "failure", code, maybeReceived: false, durationMs: 0 };
}
