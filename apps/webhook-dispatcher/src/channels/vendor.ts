import type { HttpRequest } from "../http/http-client.ts";

/** What caps and rates of a destination go by: the lower-case host and the port. */
export function hostOf(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  // A full stop at the end makes it no other host.
  return `${hostname.replace(/\.$/, "")}:${port || (protocol === "https:" ? 443 : 80)}`;
}

/** A request to a vendor: it is never in a private network, whatever the operator grants to a target. */
export function post(url: string, headers: HttpRequest["headers"], body: string): HttpRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body,
    allowPrivate: false,
  };
}

export function get(url: string, headers: HttpRequest["headers"]): HttpRequest {
  return { method: "GET", url, headers, allowPrivate: false };
}
