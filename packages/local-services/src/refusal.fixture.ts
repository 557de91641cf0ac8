import { LocalServiceError } from "./error.ts";

/** `code: message` of the error that a start is expected to fail with; anything else is the test's failure. */
export async function refusal(start: Promise<unknown>): Promise<string> {
  try {
    await start;
  } catch (error) {
    if (error instanceof LocalServiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error("it started");
}
