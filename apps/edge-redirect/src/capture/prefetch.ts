import type { IncomingHttpHeaders } from "node:http";

/** Whether a browser asks ahead of its user: `Sec-Purpose` today, the others in older ones. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers["sec-purpose"] ?? headers["purpose"] ?? headers["x-purpose"] ?? headers["x-moz"];
  return typeof purpose === "string" && /prefetch|preview/i.test(purpose);
}
