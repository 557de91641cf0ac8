import { type KeyObject, createHmac } from "node:crypto";

/**
 * Who clicks, as 32 hex digits that say nothing to anyone without the day's key: the first 16 bytes of
 * HMAC-SHA-256(key, workspace ‖ 0 ‖ address ‖ 0 ‖ agent). Per workspace, so that no customer can match another's
 * visitors; an IPv6 address counts by its /64, because devices change the rest by themselves.
 */
export function visitorHash(key: KeyObject, workspaceId: number, address: string, userAgent: string): string {
  const mac = createHmac("sha256", key);
  mac.update(`${workspaceId}\0${networkOf(address)}\0${userAgent}`);
  return mac.digest("hex").slice(0, 32);
}

/** An IPv4 address as it is, of an IPv6 address its first four groups. Takes what a socket says. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const behind = tail === "" ? [] : tail.split(":");
    while (groups.length + behind.length < 8) groups.push("0");
    groups.push(...behind);
  }
  return groups.slice(0, 4).join(":");
}
