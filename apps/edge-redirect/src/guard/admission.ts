import { isPublic } from "../client/address.ts";
import type { ClientAddress } from "../client/client-address.ts";
import type { IsTrusted } from "../client/trusted-proxies.ts";
import type { GateOptions } from "./gate.ts";
import type { RateLimit } from "./rate-limit.ts";

/**
 * Limits visitors by their addresses. One that is not public is no single visitor on the internet: a proxy that is not
 * in the list of trusted ones, a neighbour, or nobody in particular. Nor is a trusted proxy that says of nobody.
 */
export function createAdmission({
  addressOf,
  isTrusted,
  limit,
}: {
  addressOf: ClientAddress;
  isTrusted: IsTrusted;
  limit: RateLimit;
}): GateOptions["admit"] {
  return (request, atMs) => {
    const address = addressOf(request);
    return limit(address, atMs) || !isPublic(address) || isTrusted(address);
  };
}
