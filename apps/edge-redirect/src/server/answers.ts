import type { Link } from "@sluice/link-store/link-store.ts";

/** An answer that is always the same. `headers` as `writeHead` takes them: name, value, name, value. */
export interface Answer {
  readonly status: number;
  readonly headers: string[];
  readonly body: string | undefined;
}

/** Browsers keep a permanent redirect without a limit otherwise, and an edited link never reaches them. */
const permanentMaxAgeSeconds = 30;
const nobodyKeeps = "private, no-store";
const noIndex = ["X-Robots-Tag", "noindex"];

/** `location` is printable ASCII: the link store takes nothing else, and nothing else is passed on. */
export function redirectTo(location: string, { status, noindex }: Pick<Link, "status" | "noindex">): Answer {
  const permanent = status === 301 || status === 308;
  return redirect(
    status,
    location,
    permanent ? `private, max-age=${permanentMaxAgeSeconds}` : nobodyKeeps,
    noindex === true ? noIndex : [],
  );
}

/** To a form: whatever the link's status, the password is not sent on. */
export function redirectAfterForm(location: string, { noindex }: Pick<Link, "noindex">): Answer {
  return redirect(303, location, nobodyKeeps, noindex === true ? noIndex : []);
}

/** To where a domain sends those who ask for no link of it. */
export function sendElsewhere(url: string): Answer {
  return redirect(302, url, nobodyKeeps, []);
}

function redirect(status: number, location: string, cacheControl: string, more: readonly string[]): Answer {
  return {
    status,
    headers: ["Location", location, "Cache-Control", cacheControl, "Content-Length", "0", ...more],
    body: undefined,
  };
}

function plain(status: number, body: string, ...headers: string[]): Answer {
  return {
    status,
    body,
    headers: [
      "Content-Type",
      "text/plain; charset=utf-8",
      "Content-Length",
      String(Buffer.byteLength(body)),
      "X-Content-Type-Options",
      "nosniff",
      ...headers,
    ],
  };
}

const fresh = ["Cache-Control", nobodyKeeps];

export const notFound = plain(404, "There is no such link.\n", ...fresh);
export const gone = plain(410, "This link is no longer active.\n", ...fresh);
/** Whether there is such a link is not known now. */
export const unavailable = plain(503, "Please try again in a moment.\n", ...fresh, "Retry-After", "5");
export const badRequest = plain(400, "It is not clear what this request asks for.\n", ...fresh);
export const methodNotAllowed = plain(405, "Links take GET and HEAD.\n", ...fresh, "Allow", "GET, HEAD");
/** The rate is at least one a second: then the next one passes. */
export const tooManyRequests = plain(429, "Too many requests. Please wait.\n", ...fresh, "Retry-After", "1");
export const tooLarge = plain(413, "A password is shorter.\n", ...fresh);
export const noForm = plain(415, "This link takes a form.\n", ...fresh);
export const failed = plain(500, "Something went wrong here.\n", ...fresh);

const forADay = ["Cache-Control", "public, max-age=86400"];

const root = plain(200, "This host serves short links.\n", ...forADay);
/** Everybody may follow links, or the previews that messengers make would be missing. */
const robots = plain(200, "User-agent: *\nDisallow:\n", ...forADay);
const favicon: Answer = { status: 204, headers: forADay, body: undefined };

/** The answer to a path that is no link's. Every visit asks: comparing three texts is cheaper than a look-up. */
export function pageAt(path: string): Answer | undefined {
  switch (path) {
    case "/":
      return root;
    case "/robots.txt":
      return robots;
    case "/favicon.ico":
      return favicon;
    default:
      return undefined;
  }
}
