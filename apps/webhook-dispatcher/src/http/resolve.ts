import { Resolver } from "node:dns";
import { DialError } from "./dial-error.ts";

/** All addresses of a name, never none; rejects with a DialError. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface ResolveOptions {
  /** `address` or `address:port`; the machine's own without any. */
  readonly nameServers?: readonly string[];
  /** With one kind of address known and the other not, after so long it is those that are known. */
  readonly timeoutMs: number;
}

/**
 * Asks name servers for A and AAAA. Never the hosts file and never `dns.lookup`, which would share four threads with the
 * file system: a customer's name server that keeps silent would hold up the whole process.
 */
export function createResolve({ nameServers = [], timeoutMs }: ResolveOptions): Resolve {
  // A lost datagram is asked for again within the limit.
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
  if (nameServers.length > 0) resolver.setServers(nameServers);
  return (name) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    const found: string[] = [];
    let unanswered = 2;
    let isTimeout = false;
    const end = (): void => {
      clearTimeout(timer);
      if (found.length > 0) resolve(found);
      else reject(new DialError(isTimeout ? "dns-timeout" : "dns-failed"));
    };
    const timer = setTimeout(() => {
      isTimeout = true;
      end();
    }, timeoutMs);
    const hear = (error: NodeJS.ErrnoException | null, addresses?: readonly string[]): void => {
      if (error === null) found.push(...(addresses ?? []));
      else isTimeout ||= error.code === "ETIMEOUT";
      unanswered -= 1;
      if (unanswered === 0) end();
    };
    resolver.resolve4(name, hear);
    resolver.resolve6(name, hear);
    return promise;
  };
}
