// Whether the service in this container is ready: the image's health check.
import { readFileSync } from "node:fs";

// The service's own default is said in its configuration, which would take longer to load than to read.
const [, own = ""] =
  /OPS_PORT: port\(\)\s*\.default\((\d+)\)/.exec(readFileSync("app/src/config.ts", "utf8")) ?? [];
// oxlint-disable-next-line node/no-process-env -- as the service in this container has it
const port = process.env["OPS_PORT"] || own;
const { status } = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_500) });
process.exitCode = status === 200 ? 0 : 1;
