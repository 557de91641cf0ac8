/** What a hostile client sends over one connection: some requests in a row, most of them damaged in some way. */
export interface Script {
  readonly bytes: Buffer;
  readonly requests: number;
  /** Where the bytes are cut into segments. */
  readonly cuts: readonly number[];
}

const maxRequests = 4;

const methods = "HEAD POST PUT OPTIONS TRACE CONNECT PRI get G\0T".split(" ");
const versions = "1.0 0.9 2.0 1.2 11 1.1\t -1".split(" ").map((version) => `HTTP/${version}`);
const ends = ["\n", "\r", "\r\n ", "\r\n\t", "\0\r\n", ""];
const targets = [
  "/demo",
  "/demo?utm_source=fuzz&qr=1&gclid=%FF%00",
  "/",
  "/robots.txt",
  "/%C0%80",
  "/%",
  "/%E0%A4%A",
  "/%00",
  "/a%2Fb",
  "/..%2f..%2fetc/passwd",
  "//evil.example/",
  "/\\evil.example",
  "/%F0%9F%8D%9E",
  "/caf%C3%A9",
  "/é",
  "*",
  "http://localhost/demo",
  "http://evil.example/demo",
  "http://localhost@evil.example/",
  "evil.example:443",
  "/demo#fragment",
  "/demo ?x",
  "/wp-login.php?a=${jndi:ldap://x}",
];
/** With these a request is still one. */
const headers = [
  "Connection: close",
  "Connection: keep-alive",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Upgrade: h2c",
  "Expect: 100-continue",
  "Expect: something",
  "Content-Length: 0",
  "TE: trailers",
  "X-Forwarded-For: 1.2.3.4, , unknown, [::1]:80, 999.1.1.1",
  'Forwarded: for="[2001:db8::1]:4711";proto=https, for=_x',
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
  "User-Agent: ",
  "User-Agent: ((((((((((((((((((((((((((",
  "Referer: android-app://com.example/https/x",
  "Referer: http://[",
  "Accept-Language: ;q=,de;q=x,,*",
  'Sec-CH-UA: "a\\"b";v="1',
  "Sec-GPC: 1",
  "Purpose: prefetch",
  "Cookie: a=b; c",
];
const hostileHeaders = [
  "Host: localhost",
  "Host: evil.example",
  "Host:",
  "host: LOCALHOST.:80",
  "Host: [::1]:8080",
  "Host: a b",
  "Host : localhost",
  "Content-Length: 5",
  "Content-Length: -1",
  "Content-Length: 99999999999999999999",
  "Content-Length: 5, 5",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding:\x0bchunked",
  ": empty",
  "no colon",
  "Set-Cookie: a\x7f",
];
const bodies = [
  "hello",
  "0\r\n\r\n",
  "5\r\nhello\r\n0\r\n\r\n",
  "5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n",
  "fffffffffffffffff\r\n",
  "GET /demo HTTP/1.1\r\nHost: localhost\r\n\r\n",
];
const damage = [
  "\0",
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  " ",
  "\t",
  ":",
  "%",
  "/",
  "?",
  "\x80",
  "\xff",
  "\x16\x03\x01",
  "HTTP/1.1",
];

/** Scripts without end; the same for the same numbers. */
export function createScripts(random: () => number): () => Script {
  const below = (limit: number): number => Math.floor(random() * limit);
  const oneOf = (texts: readonly string[]): string => texts[below(texts.length)] ?? "";
  const chance = (probability: number): boolean => random() < probability;

  /** The usual, or now and then something else. */
  const mostly = (usual: string, others: readonly string[], probability = 0.05): string =>
    chance(probability) ? oneOf(others) : usual;
  const end = (): string => mostly("\r\n", ends, 0.005);

  function target(): string {
    if (chance(0.3)) return `/${times(1 + below(12), () => String.fromCharCode(33 + below(94)))}`;
    // Over the limit of all headers, once in a while.
    return chance(0.01) ? `/${"x".repeat(below(20_000))}` : mostly("/demo", targets, 0.7);
  }
  function header(): string {
    return chance(0.01)
      ? `X-Long: ${"y".repeat(below(20_000))}`
      : oneOf(chance(0.05) ? hostileHeaders : headers);
  }
  function request(): string {
    const line = `${mostly("GET", methods)} ${target()} ${mostly("HTTP/1.1", versions)}${end()}`;
    const host = chance(0.97) ? `Host: localhost${end()}` : "";
    return `${line}${host}${times(below(6), () => `${header()}${end()}`)}\r\n${mostly("", bodies)}`;
  }
  function damaged(text: string): string {
    const from = below(text.length);
    const to = from + below(20);
    switch (below(5)) {
      case 0:
        return text.slice(0, from) + oneOf(damage) + text.slice(from);
      case 1:
        return text.slice(0, from) + text.slice(to);
      case 2:
        return text.slice(0, to) + text.slice(from);
      case 3:
        return text.slice(0, from) + String.fromCharCode(below(256)) + text.slice(from + 1);
      default:
        return text.slice(0, from);
    }
  }

  return () => {
    const requests = 1 + below(maxRequests);
    let text = times(requests, () => (chance(0.15) ? damaged(request()) : request()));
    // Then the connection ends by itself, where what was before is understood.
    if (chance(0.6)) text += "GET /demo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    const bytes = Buffer.from(text, "latin1");
    const cuts = Array.from({ length: below(4) }, () => below(bytes.length)).toSorted((a, b) => a - b);
    return { bytes, requests, cuts };
  };
}

function times(count: number, make: () => string): string {
  return Array.from({ length: count }, make).join("");
}
