import { ServiceError } from "@sluice/service/service-error.ts";

/** Of what may be piped in: many times the longest password or token. */
const maxChars = 4_096;

/**
 * Standard input up to its end, without the final line break, for an option. Rejects with a ServiceError at a terminal,
 * which would show it.
 */
export async function readInput(option: string): Promise<string> {
  if (process.stdin.isTTY) {
    throw new ServiceError("config", `${option} takes it from a file or pipe: … ${option} … < file`);
  }
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > maxChars) {
      throw new ServiceError("config", `${option} takes at most ${maxChars} characters of standard input`);
    }
  }
  return text.replace(/\r?\n$/, "");
}
