import { request } from "node:https";

import type { Project } from "./project.ts";

/** For a first certificate on a busy machine. */
const patienceMs = 20_000;
const visited = "go.example";

/**
 * What is wrong with Caddy in front of the edge, at ports 80 and 443 of this machine. Its certificates are its own
 * authority's here: nobody else would give one for a name that is nobody's.
 */
export async function problemsWithTls(project: Project): Promise<string[]> {
  const cli = (...words: string[]) => project.compose("run", "--rm", "-T", "cli", ...words);
  await cli("domain", "add", visited);
  const before = await visit(visited);
  await cli("domain", "verify", visited, "--trust");
  await cli("link", "create", "https://example.com/", `--domain=${visited}`, "--slug=smoke");
  const after = await visit(visited);
  const plain = await fetch("http://127.0.0.1/smoke", {
    redirect: "manual",
    signal: AbortSignal.timeout(patienceMs),
  });
  return [
    // Whatever the answer is, it came over TLS.
    ...(typeof before === "number" ? ["a domain has a certificate before it is verified"] : []),
    ...(after === 302 ? [] : [`a verified domain is answered ${after} over TLS`]),
    ...(plain.status === 308 ? [] : [`plain HTTP is answered ${plain.status}`]),
  ];
}

/** The status of its answer, or why there is none. */
async function visit(domain: string): Promise<number | string> {
  const { promise, resolve } = Promise.withResolvers<number | string>();
  const headers = { host: domain };
  const to = { host: "127.0.0.1", path: "/smoke", servername: domain, rejectUnauthorized: false };
  const asked = request({ ...to, headers, signal: AbortSignal.timeout(patienceMs) }, (response) => {
    resolve(response.statusCode ?? 0);
    response.destroy();
  });
  asked.once("error", (error) => resolve(String(error)));
  asked.end();
  return await promise;
}
