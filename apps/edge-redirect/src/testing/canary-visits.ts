import type { Canary } from "./canaries.ts";
import { sendRaw, visit } from "./http.ts";
import { binaryHeader } from "./proxy.ts";

/** How a proxy names a visitor: the value of its header. */
export type Form = (canary: Canary) => string;

/** What proxies write, and what visitors write to be taken for a proxy. */
export const listForms: readonly Form[] = [
  ({ v4 }) => v4,
  ({ v6 }) => v6,
  ({ v4 }) => `${v4}:4711`,
  ({ v6 }) => `[${v6.toUpperCase()}]:443`,
  ({ v4 }) => `::ffff:${v4}`,
  ({ v4 }) => `0:0:0:0:0:FFFF:${v4}`,
  ({ v6 }) => `${v6}%eth0`,
  ({ v4, v6 }) => `${v6}, ${v4}, 127.0.0.1`,
  ({ v4, v6 }) => `<script>${v4}</script>, unknown, ${v6}`,
  ({ v4 }) => `${v4}.1, _${v4}, "${v4}`,
];

export const forwardedForms: readonly Form[] = [
  ({ v4 }) => `for=${v4};proto=https;by=${v4}`,
  ({ v6 }) => `For="[${v6}]:4711"`,
  ({ v4, v6 }) => `for="[${v6}]", for=${v4};host=go.example.com, for=127.0.0.1`,
  ({ v4 }) => `for=_${v4}`,
  ({ v4 }) => `for="${v4}`,
];

/** Of those that name one address. */
export const singleForms: readonly Form[] = [({ v4 }) => v4, ({ v6 }) => v6, ({ v4, v6 }) => `${v4}, ${v6}`];

/** Paths with an answer of each kind: redirects of every sort, page, form, unknown, over, disabled, no path at all. */
const paths: readonly Form[] = [
  () => "/demo",
  () => "/demo?utm_source=a&gclid=b&qr=1",
  ({ v4 }) => `/demo?x=${v4}`,
  () => "/%F0%9F%8D%9E",
  () => "/wp-login.php",
  () => "/locked",
  () => "/ruled",
  () => "/split",
  () => "/few",
  () => "/over",
  () => "/off",
  () => "/",
  ({ v4 }) => `/${v4}`,
  () => "/%C0%80",
];
const methods = ["GET", "GET", "HEAD", "POST"];
const agents: readonly Readonly<Record<string, string>>[] = [
  { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0" },
  { "user-agent": "curl/8.5.0", "sec-gpc": "1" },
  { "user-agent": "WhatsApp/2.23.20.0 A", dnt: "1" },
  {},
];

function pick<Each>(from: readonly Each[], number: number): Each {
  const picked = from[number % from.length];
  if (picked === undefined) throw new Error("there is nothing to pick from");
  return picked;
}

/** Asks once, from the canary's own address, in one of the combinations that `number` steps through. */
export async function visitAs(
  port: number,
  who: Canary,
  number: number,
  names: Readonly<Record<string, readonly Form[]>>,
): Promise<void> {
  const headers: Record<string, string> = { ...pick(agents, Math.floor(number / 11)), via: `1.1 ${who.v4}` };
  for (const [header, forms] of Object.entries(names)) headers[header] = pick(forms, number)(who);
  await visit(port, pick(paths, Math.floor(number / 7))(who), {
    from: who.peer,
    method: pick(methods, Math.floor(number / 3)),
    headers,
  });
}

/** What no handler sees, or sees as something else than a visit. */
const broken: readonly Form[] = [
  () => "nonsense\r\n\r\n",
  () => `GET /${"s".repeat(17_000)} HTTP/1.1\r\n\r\n`,
  ({ v4 }) => `GET http://${v4}/demo HTTP/1.1\r\nHost: go.example.com\r\nConnection: close\r\n\r\n`,
  ({ v6 }) => `GET /demo HTTP/1.1\r\nHost: [${v6}]\r\nHost: go.example.com\r\nConnection: close\r\n\r\n`,
  ({ v4 }) => `GET /demo HTTP/1.0\r\nX-Forwarded-For: ${v4}\r\n\r\n`,
  ({ v4 }) => `GET /\0${v4} HTTP/1.1\r\nHost: go.example.com\r\n\r\n`,
  ({ v4 }) => `GET /demo HTTP/1.1\r\nHost: go.example.com\r\nX-Forwarded-For: ${v4}\0\r\n\r\n`,
];

export async function sendBroken(port: number, canary: Canary, number: number): Promise<void> {
  await sendRaw(port, pick(broken, number)(canary), { from: canary.peer }).catch(() => "");
}

const get = "GET /demo HTTP/1.1\r\nHost: go.example.com\r\nConnection: close\r\n\r\n";
const bytesOf = (address: string) => Buffer.from(address.split(".").map(Number));

/** By way of a balancer that speaks the PROXY protocol: right, and wrong in several ways. */
const proxied: readonly ((canary: Canary) => Buffer)[] = [
  ({ v4 }) => Buffer.from(`PROXY TCP4 ${v4} 192.0.2.1 4711 443\r\n${get}`),
  ({ v6 }) => Buffer.from(`PROXY TCP6 ${v6} 2001:db8::1 4711 443\r\n${get}`),
  ({ v4 }) =>
    Buffer.concat([
      binaryHeader({ tail: Buffer.concat([bytesOf(v4), Buffer.alloc(8), bytesOf(v4)]) }),
      Buffer.from(get),
    ]),
  ({ v4 }) => Buffer.from(`PROXY TCP6 ${v4} 192.0.2.1 4711 443\r\n${get}`),
  ({ v4 }) => Buffer.from(`PROXY UNKNOWN ${v4}\r\n${get}`),
  ({ v4 }) => Buffer.from(`GET / HTTP/1.1\r\nX-Forwarded-For: ${v4}\r\n\r\n`),
];

export async function sendProxied(port: number, canary: Canary, number: number): Promise<void> {
  await sendRaw(port, pick(proxied, number)(canary), { from: canary.peer }).catch(() => "");
}
