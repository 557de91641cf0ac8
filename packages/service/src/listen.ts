import type { AddressInfo, Server } from "node:net";

import { ServiceError } from "./service-error.ts";

/**
 * Resolves to the port that the server listens on. `variable` is the setting that the port came from: when the
 * address cannot be taken this rejects with a ServiceError `address` that names it. The workers of a cluster share the
 * port, unless it is `exclusive`.
 */
export async function listen(
  server: Server,
  address: { host: string; port: number; variable: string; exclusive?: boolean },
): Promise<number> {
  const { host, port, variable, exclusive = false } = address;
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen({ host, port, exclusive }, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    throw new ServiceError("address", `${variable}=${port} on ${host}: ${explain(error)}`, { cause: error });
  } finally {
    server.off("error", listening.reject);
  }
  const bound = server.address();
  return isAddressInfo(bound) ? bound.port : port;
}

function explain(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return "the port is in use; stop what uses it or choose another";
    case "EACCES":
      return "the port is not permitted to this user; choose one above 1023";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "this machine does not have that address";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}
