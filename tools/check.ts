// `npm run check`: everything that can be known without running the product. With `--fix`, mends what a tool can.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const fix = process.argv.includes("--fix");

/** name, command line; all run side by side and each prints only when it fails. */
const checks: [string, string[]][] = fix
  ? [
      ["lint", ["oxlint", "--fix"]],
      ["format", ["oxfmt"]],
      ["docs", ["node", "tools/docs.ts", "--write"]],
    ]
  : [
      ["types", ["tsc"]],
      ["lint", ["oxlint"]],
      ["format", ["oxfmt", "--check"]],
      ["boundaries", ["turbo", "boundaries"]],
      ["unused", ["knip"]],
      ["docs", ["node", "tools/docs.ts"]],
    ];

async function run([name, [command = "", ...args]]: [string, string[]]): Promise<boolean> {
  const child = spawn(command, args, {
    cwd: root,
    env: Object.assign({ TURBO_TELEMETRY_DISABLED: "1", NO_COLOR: "1" }, process.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const status = await new Promise<number>((resolve) => {
    child.once("error", (error) => {
      output += error.message;
      resolve(1);
    });
    child.once("close", (code) => resolve(code ?? 1));
  });
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name}`);
  if (status !== 0) console.log(output);
  return status === 0;
}

const outcomes: boolean[] = [];
// Mending is in order, because the formatter has the last word over what the linter changed.
if (fix) for (const check of checks) outcomes.push(await run(check));
else outcomes.push(...(await Promise.all(checks.map(run))));
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
