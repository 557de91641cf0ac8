import { hash } from "node:crypto";

import type { Answer } from "./answers.ts";

// Pages for people, without a script: what a password or an app needs beyond a redirect.

const style =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:22rem;margin:20vh auto;padding:0 1rem}input,button,a{font:inherit}input{width:100%;box-sizing:border-box;padding:.5rem;margin:.25rem 0 1rem}";

/**
 * Nothing is loaded, framed or run. There is no `form-action`: Chrome and Safari hold it against the redirect that
 * answers the form, which leads to another site (w3c/webappsec-csp#8).
 */
const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; frame-ancestors 'none'`;

function page(status: number, body: string, ...headers: string[]): Answer {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Short link</title>
<style>${style}</style>
<main>
${body}
</main>
</html>
`;
  return {
    status,
    body: html,
    headers: [
      "Content-Type",
      "text/html; charset=utf-8",
      "Content-Length",
      String(Buffer.byteLength(html)),
      "Content-Security-Policy",
      policy,
      "X-Content-Type-Options",
      "nosniff",
      "Referrer-Policy",
      "no-referrer",
      "X-Robots-Tag",
      "noindex",
      "Cache-Control",
      "private, no-store",
      ...headers,
    ],
  };
}

/** Posts to the address it is shown at, query and all. The unlocked visitor is redirected at once: no cookie needed. */
function passwordForm(message: string): string {
  return `<form method="post">
<p>${message}</p>
<label>Password <input type="password" name="password" required autofocus maxlength="256"></label>
<button>Go on</button>
</form>`;
}

export const passwordPage = page(200, passwordForm("This link asks for a password."));
/** Without `WWW-Authenticate`: no scheme names a form, and a browser would ask with a window of its own. */
export const wrongPassword = page(401, passwordForm("That was not the password."));

export function tooManyTries(retryAfterSeconds: number): Answer {
  const message = "Too many wrong passwords. Please try again in a minute.";
  return page(429, passwordForm(message), "Retry-After", String(retryAfterSeconds));
}

/** A choice between an app and the web, for systems that show an error where the app is missing. */
export function appPage(app: string, destination: string): Answer {
  return page(
    200,
    `<p><a href="${escape(app)}">Open in the app</a></p>
<p><a href="${escape(destination)}">Go on in the browser</a></p>`,
  );
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
