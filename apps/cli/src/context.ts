import type { Log } from "@sluice/service/log.ts";

import type { Addresses } from "./addresses.ts";
import type { Progress } from "./progress.ts";

/** What a command is given. */
export interface Context {
  readonly addresses: Addresses;
  readonly log: Log;
  /** Prints one line of the result. */
  readonly print: (line: string) => void;
  /** Prints one line for the person who sits there, beside the result. */
  readonly note: (line: string) => void;
  /** Shows how far something with so many steps has come, until disposed. */
  readonly progress: (total: number) => Progress;
  /** What standard input says, without the final line break, for an option that errors name. */
  readonly readInput: (option: string) => Promise<string>;
}
