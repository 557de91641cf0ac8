import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "./benchmark.ts";
import { freePort, type Peer, startPeer } from "./peer.ts";

export const nginxTool = { name: "nginx", debianPackage: "nginx-light", versionFlag: "-v" };

/**
 * nginx with one worker that answers every request with the same redirect: it looks nothing up and keeps nothing,
 * which is as fast as a redirect gets.
 */
export async function startNginx(
  { dir, location, core }: { dir: string; location: string; core: number | undefined },
  bench: Bench,
): Promise<Peer> {
  const port = await freePort();
  await mkdir(dir, { recursive: true });
  const configuration = join(dir, "nginx.conf");
  await writeFile(configuration, configure(dir, port, location));
  const command = ["nginx", "-p", dir, "-e", "error.log", "-c", configuration];
  return await startPeer({ command, port, core }, bench);
}

function configure(dir: string, port: number, location: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
worker_processes 1;
pid ${join(dir, "nginx.pid")};
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary.map((name) => `${name}_temp_path ${join(dir, name)};`).join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location / {
      add_header Cache-Control "private, no-store" always;
      return 302 "${location}";
    }
  }
}
`;
}
