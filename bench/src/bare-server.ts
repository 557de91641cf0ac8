// What `node:http` by itself makes of a redirect: `node bare-server.ts <port> <location>`. Set as the edge sets it.
import { createServer } from "node:http";

const [port, location = ""] = process.argv.slice(2);
const headers = ["Location", location, "Cache-Control", "private, no-store", "Content-Length", "0"];
const server = createServer(
  { noDelay: true, optimizeEmptyRequests: true, keepAliveTimeout: 0 },
  (_request, response) => void response.writeHead(302, headers).end(),
);
server.listen(Number(port), "127.0.0.1");
process.on("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
