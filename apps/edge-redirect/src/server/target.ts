import type { IncomingMessage } from "node:http";

import { slugOfPath } from "@sluice/link-store/slug.ts";

/** What a request asks for. */
export interface Target<Domain> {
  readonly domain: Domain;
  /** As in the request line, without the query. */
  readonly path: string;
  /** `undefined` when no link can have it. */
  readonly slug: string | undefined;
  /** Without its question mark. */
  readonly query: string;
}

/**
 * Reads host, path and query off a request by slicing. `undefined` when it is not clear for which host it is: none
 * or two `Host` headers, one that is no host name, or an absolute URL for another host. `domainOf` gives the same
 * domain for every spelling of a host, `undefined` for what is none.
 */
export function createTargetReader<Domain>(
  domainOf: (host: string) => Domain | undefined,
): (request: Pick<IncomingMessage, "url" | "rawHeaders">) => Target<Domain> | undefined {
  return ({ url = "", rawHeaders }) => {
    const host = onlyHost(rawHeaders);
    const domain = host === undefined ? undefined : domainOf(host);
    if (domain === undefined) return undefined;
    if (url.startsWith("/")) return split(domain, url);
    // A proxy's form, `GET http://host/path`.
    const [, authority = "", rest = ""] = /^https?:\/\/([^/?#@]+)((?:[/?].*)?)$/i.exec(url) ?? [];
    return authority !== "" && domainOf(authority) === domain
      ? split(domain, rest.startsWith("/") ? rest : `/${rest}`)
      : undefined;
  };
}

function split<Domain>(domain: Domain, url: string): Target<Domain> {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return { domain, path, slug: slugOfPath(path), query: mark < 0 ? "" : url.slice(mark + 1) };
}

/** Node takes the first of several and says nothing; the proxy in front may have taken the last. */
function onlyHost(rawHeaders: readonly string[]): string | undefined {
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name === undefined || name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (host !== undefined) return undefined;
    host = rawHeaders[index + 1];
  }
  return host;
}
