import { isIP, type LookupFunction, type Socket, connect } from "node:net";
import * as tls from "node:tls";
import { callbackify } from "node:util";
import type { buildConnector } from "undici";
import { classOf } from "./address.ts";
import { DialError } from "./dial-error.ts";
import type { FailureCode } from "./http-client.ts";
import type { Resolve } from "./resolve.ts";

export interface DialOptions {
  readonly resolve: Resolve;
  /** To be connected, TLS included. */
  readonly connectMs: number;
  /** Trusted instead of the usual authorities, PEM. */
  readonly ca?: string;
}

/**
 * The one way out: every connection that is made, is made here, to an address that has been judged. A name is resolved
 * once, all of its addresses are judged, and only these are dialled, so that its owner cannot change them in between.
 * Ends when `signal` aborts. What it fails with is a DialError.
 */
export function createConnector(
  options: DialOptions,
  allowPrivate: boolean,
  signal: AbortSignal,
): buildConnector.connector {
  return (place, callback) => {
    dialled(place, options, allowPrivate, signal, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(error, null);
    });
  };
}

const dialled = callbackify(dial);

async function dial(
  place: buildConnector.Options,
  options: DialOptions,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<Socket> {
  const ended = Promise.withResolvers<never>();
  const end = (code: FailureCode): void => ended.reject(new DialError(code));
  const timer = setTimeout(end, options.connectMs, "connect-timeout");
  const abandon = (): void => end("aborted");
  signal.addEventListener("abort", abandon);
  let socket: Socket | undefined;
  try {
    if (signal.aborted) abandon();
    const addresses = await Promise.race([
      ended.promise,
      allowedAddresses(place.hostname, options.resolve, allowPrivate),
    ]);
    socket = connectTo(place, addresses, options.ca);
    await Promise.race([ended.promise, connected(socket)]);
    return socket;
  } catch (error) {
    socket?.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abandon);
  }
}

/** Rejects when any of them is not allowed: a name with one forbidden address is not an honest one. */
async function allowedAddresses(
  host: string,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly string[]> {
  const addresses = await addressesOf(host, resolve, allowPrivate);
  const isAllowed = (address: string): boolean => {
    const addressClass = classOf(address);
    return addressClass === "public" || (allowPrivate && addressClass === "private");
  };
  if (!addresses.every(isAllowed)) throw new DialError("address-not-allowed");
  return addresses;
}

async function addressesOf(
  host: string,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const name = withoutFinalDot(host).toLowerCase();
  const isLocal = name === "localhost" || name.endsWith(".localhost");
  // Names that mean something on this machine or network alone.
  if (!allowPrivate && (isLocal || !name.includes("."))) throw new DialError("address-not-allowed");
  return isLocal ? ["127.0.0.1", "::1"] : resolve(name);
}

/** When a name has several addresses, each but the last is given up after so long. */
const attemptMs = 1_000;

function connectTo(
  { hostname, port, protocol }: buildConnector.Options,
  addresses: readonly string[],
  ca: string | undefined,
): Socket {
  // Never called for a literal address, which has been judged as it stands.
  const lookup: LookupFunction = (_name, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );
  };
  const isTls = protocol === "https:";
  const to = {
    host: hostname,
    port: Number(port === "" ? (isTls ? 443 : 80) : port),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    noDelay: true,
  };
  if (!isTls) return connect(to);
  return tls.connect({
    ...to,
    ...(ca === undefined ? {} : { ca }),
    ...(isIP(hostname) === 0 ? { servername: withoutFinalDot(hostname) } : {}),
    ALPNProtocols: ["http/1.1"],
  });
}

function connected(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isTcpOpen = false;
  socket.once("connect", () => {
    isTcpOpen = true;
  });
  socket.once(socket instanceof tls.TLSSocket ? "secureConnect" : "connect", () => resolve());
  // Stays: between here and undici's own listener an error must not end the process.
  socket.on("error", (error) => reject(new DialError(codeOf(error, socket, isTcpOpen), { cause: error })));
  return promise;
}

function codeOf(error: Error, socket: Socket, isTcpOpen: boolean): FailureCode {
  if (isTcpOpen) {
    const isUntrusted = socket instanceof tls.TLSSocket && Boolean(socket.authorizationError);
    return isUntrusted ? "certificate-invalid" : "tls-failed";
  }
  const code = "code" in error ? error.code : undefined;
  if (code === "ECONNREFUSED") return "connect-refused";
  if (code === "ETIMEDOUT") return "connect-timeout";
  return code === "ECONNRESET" ? "connection-closed" : "unreachable";
}

const withoutFinalDot = (host: string): string => (host.endsWith(".") ? host.slice(0, -1) : host);
