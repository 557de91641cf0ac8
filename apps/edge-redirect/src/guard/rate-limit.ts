import { randomInt } from "node:crypto";

/**
 * Whether a visitor may be answered now. Takes an address as a socket or a proxy writes it and a time in ms of a
 * clock that does not go back. Keeps no address.
 */
export type RateLimit = (address: string, atMs: number) => boolean;

export interface RateLimitOptions {
  /** In the long run; 0 lets everybody pass. */
  readonly perSecond: number;
  /** So many at once, after a pause. */
  readonly burst: number;
  /** What addresses are hashed with: a number of 32 bits, new for each process. */
  readonly key?: number;
}

/** 768 KB, whoever comes: 65,536 visitors who have visited within the time in which a bucket fills. */
const sets = 16_384;
const bucketsPerSet = 4;

/**
 * A token bucket for each IPv4 address and each /64 of IPv6, which is what one visitor has. A bucket is kept as the
 * time at which it will be full again (the generic cell rate algorithm, ITU-T I.371), under a keyed hash of the
 * address, in a table of fixed size. Where four others are in the place of a new visitor, it takes that of the one who
 * has asked for least of late.
 */
export function createRateLimit({ perSecond, burst, key = randomInt(2 ** 32) }: RateLimitOptions): RateLimit {
  if (perSecond === 0) return () => true;
  const msPerToken = 1000 / perSecond;
  const mostOwedMs = (burst - 1) * msPerToken;
  const owners = new Int32Array(sets * bucketsPerSet);
  const fullAt = new Float64Array(sets * bucketsPerSet);

  function bucketOf(owner: number): number {
    const first = (owner & (sets - 1)) * bucketsPerSet;
    let fullest = first;
    for (let bucket = first; bucket < first + bucketsPerSet; bucket += 1) {
      if (owners[bucket] === owner) return bucket;
      if ((fullAt[bucket] ?? 0) < (fullAt[fullest] ?? 0)) fullest = bucket;
    }
    owners[fullest] = owner;
    fullAt[fullest] = 0;
    return fullest;
  }

  return (address, atMs) => {
    const bucket = bucketOf(hashNetwork(address, key));
    const from = Math.max(atMs, fullAt[bucket] ?? 0);
    if (from - atMs > mostOwedMs) return false;
    fullAt[bucket] = from + msPerToken;
    return true;
  };
}

const colon = 0x3a;
const groupsOfAddress = 8;
const groupsOfNetwork = 4;

/**
 * 32 bits of an IPv4 address, mapped into IPv6 or not, or of the /64 of an IPv6 address, however it is written. By
 * hand, because to take the text apart would cost more than all the rest.
 */
function hashNetwork(address: string, key: number): number {
  let hash = key;
  const end = address.length;
  if (address.includes(".")) {
    for (let at = address.lastIndexOf(":") + 1; at < end; at += 1) hash = mix(hash, address.charCodeAt(at));
    return finish(hash);
  }
  let groups = 0;
  let group = 0;
  for (let at = 0; at < end && groups < groupsOfNetwork; at += 1) {
    const code = address.charCodeAt(at);
    if (code !== colon) {
      // The low four bits of a digit, and those of a letter, which count from 1, and 9.
      group = (group << 4) | ((code & 0xf) + (code > colon ? 9 : 0));
      continue;
    }
    hash = mix(hash, group);
    group = 0;
    groups += 1;
    if (address.charCodeAt(at + 1) !== colon) continue;
    at += 1;
    for (let zeros = groupsOfAddress - groups - groupsIn(address, at + 1); zeros > 0; zeros -= 1) {
      if (groups < groupsOfNetwork) hash = mix(hash, 0);
      groups += 1;
    }
  }
  return finish(hash);
}

function groupsIn(address: string, from: number): number {
  let groups = from < address.length ? 1 : 0;
  for (let at = from; at < address.length; at += 1) if (address.charCodeAt(at) === colon) groups += 1;
  return groups;
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

/** The last step of MurmurHash3, by Austin Appleby: each bit of the input changes each of the output. */
function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
