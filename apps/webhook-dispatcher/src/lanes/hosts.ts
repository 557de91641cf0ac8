import { Share } from "./share.ts";
import { TokenBucket } from "./token-bucket.ts";

/** A destination host, whoever's targets point at it. */
export interface Host {
  readonly share: Share;
  readonly bucket: TokenBucket;
  /** Deliveries waiting for it, in whatever lane. */
  queued: number;
}

export interface Hosts {
  of(name: string): Host;
  /** Forgets those of which there is nothing to know. */
  forgetIdle(now: number): void;
}

/** `inFlight` and `perSecond` of each host. */
export function createHosts(inFlight: () => number, perSecond: () => number): Hosts {
  const hosts = new Map<string, Host>();
  return {
    of(name) {
      let host = hosts.get(name);
      if (host === undefined) {
        host = { share: new Share(inFlight), bucket: new TokenBucket(), queued: 0 };
        hosts.set(name, host);
      }
      return host;
    },
    forgetIdle(now) {
      for (const [name, { share, bucket, queued }] of hosts)
        if (share.used === 0 && queued === 0 && bucket.isFull(perSecond(), now)) hosts.delete(name);
    },
  };
}
