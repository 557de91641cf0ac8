// A test process: makes two directories, starts a server on one if it is told to, says so, and is killed or ends.
import { spawn } from "node:child_process";

import { tempDir } from "./temp-dir.ts";

const one = await tempDir();
const other = await tempDir();
if (process.argv.length > 2) {
  // The directory stands in the command line, as with every server of ours.
  const server = spawn("sh", ["-c", "sleep 60; true", one.path], { detached: true, stdio: "ignore" });
  process.stdout.write(`${server.pid} ${one.path} ${other.path}\n`);
} else {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
}
