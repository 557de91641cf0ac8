import type { Server } from "node:net";
import { listen } from "@sluice/service/listen.ts";

/** Resolves to the free port of this machine that the server listens on from then on. */
export async function listenOnLoopback(server: Server): Promise<number> {
  return await listen(server, { host: "127.0.0.1", port: 0, variable: "port" });
}
