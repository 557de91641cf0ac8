import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "./benchmark.ts";
import { environmentOf } from "./config.ts";
import { onCore } from "./program.ts";

export const nginxTool = { name: "nginx", debianPackage: "nginx-light", versionFlag: "-v" };

export interface Nginx extends AsyncDisposable {
  readonly port: number;
}

/**
 * nginx with one worker that answers every request with the same redirect: it looks nothing up and keeps nothing,
 * which is as fast as a redirect gets.
 */
export async function startNginx(
  { dir, location, core }: { dir: string; location: string; core: number | undefined },
  bench: Bench,
): Promise<Nginx> {
  const port = await freePort();
  await mkdir(dir, { recursive: true });
  const configuration = join(dir, "nginx.conf");
  await writeFile(configuration, configure(dir, port, location));
  const [program = "", ...args] = onCore(core, ["nginx", "-p", dir, "-e", "error.log", "-c", configuration]);
  const child = spawn(program, args, { env: environmentOf({}), stdio: "ignore" });
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => resolve()).once("error", () => resolve()),
  );
  const nginx = {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
  try {
    const deadline = AbortSignal.any([bench.signal, AbortSignal.timeout(10_000)]);
    while (!(await redirects(port))) await delay(20, undefined, { signal: deadline });
    return nginx;
  } catch (error) {
    await nginx[Symbol.asyncDispose]();
    throw new Error(`nginx did not start: see ${dir}/error.log`, { cause: error });
  }
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

async function redirects(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" });
    await response.body?.cancel();
    return response.status === 302;
  } catch {
    return false;
  }
}

/** nginx cannot be asked which port it took. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
