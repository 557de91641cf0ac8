import { Resolver } from "node:dns/promises";
import { invalid } from "./invalid.ts";
import { LinkStoreError } from "./link-store.ts";

/** Where the owner of a domain shows its token, as a TXT record: beside the domain, which may itself be a CNAME. */
export function proofName(domain: string): string {
  return `_sluice.${domain}`;
}

export interface TextsOptions {
  /** `address` or `address:port`; the machine's own without any. */
  readonly nameServers?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Two tries of each of two servers; a name server that takes longer is as good as away. */
const tryMs = 1_000;
const tries = 2;
const timeoutMs = 5_000;

/**
 * The TXT records of a name, each in one piece; none when there is no such name. Takes five seconds at most. Rejects
 * with `unavailable` when no name server says, with `invalid` when one is no address.
 */
export async function readTexts(name: string, options: TextsOptions = {}): Promise<readonly string[]> {
  const { nameServers = [], signal } = options;
  const resolver = resolverAt(nameServers);
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]);
  const cancel = (): void => resolver.cancel();
  limit.addEventListener("abort", cancel);
  try {
    signal?.throwIfAborted();
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(""));
  } catch (error) {
    signal?.throwIfAborted();
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    const message = error instanceof Error ? error.message : String(error);
    throw new LinkStoreError("unavailable", `DNS: ${message}`, { cause: error });
  } finally {
    limit.removeEventListener("abort", cancel);
  }
}

function resolverAt(nameServers: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: tryMs, tries });
  if (nameServers.length === 0) return resolver;
  try {
    resolver.setServers(nameServers);
  } catch {
    throw invalid(
      "nameServers",
      "addresses such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53",
      nameServers,
    );
  }
  return resolver;
}
