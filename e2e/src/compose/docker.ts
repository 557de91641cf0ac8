import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
/** The first build of an image on a busy machine. */
const timeout = 900_000;
/** A build says more than the default holds. */
const maxBuffer = 64 * 2 ** 20;

/** What `docker …` prints. Rejects with what it has said when it fails. */
export async function docker(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return await print("docker", args, env);
}

/** Runs a program to its end and gives what it printed. */
export async function print(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<string> {
  const { stdout } = await run(file, args, {
    env,
    timeout,
    maxBuffer,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return stdout.trim();
}

/** The command of compose on this machine: Docker's own, or the older program of its own. */
export async function composeCommand(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const isBuiltIn = await docker(["compose", "version"], env).then(
    () => true,
    () => false,
  );
  return isBuiltIn ? ["docker", "compose"] : ["docker-compose"];
}
