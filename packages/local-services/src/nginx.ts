import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { accepts, prepareServer, versionOf } from "./prepare-server.ts";
import { launch, type LocalServer } from "./server.ts";

export interface NginxOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** What stands in the `http` block before the server: the upstream `edges`. */
  readonly upstream: string;
  /** What stands in the location `/` besides `proxy_pass`. */
  readonly location?: string;
  readonly log: Log;
}

/**
 * Starts the machine's own nginx, in one process, on the loopback interface: a proxy that keeps connections to the
 * upstream `edges` open. Rejects with a LocalServiceError: `missing` where there is no nginx.
 */
export async function startNginx(options: NginxOptions): Promise<LocalServer> {
  const own = await prepareServer({
    name: "nginx",
    dataDir: options.dataDir,
    version: await versionOf("nginx", "-v", /nginx\/([\d.]+)/),
    stopSignal: "SIGTERM",
    stopWithinMs: 5_000,
    log: options.log,
  });
  const { dataDir, port } = own;
  const configuration = join(dataDir, "nginx.conf");
  await writeFile(configuration, configure(options, port));
  return await launch({
    ...own,
    command: ["nginx", "-p", dataDir, "-e", "stderr", "-c", configuration],
    url: `http://127.0.0.1:${port}`,
    startWithinMs: 10_000,
    ready: (signal) => accepts(port, signal),
  });
}

function configure({ upstream, location = "" }: NginxOptions, port: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
master_process off;
pid nginx-own.pid;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join("\n  ")}
  ${upstream}
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 1000000;
    location / {
      proxy_pass http://edges;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      ${location}
    }
  }
}
`;
}
