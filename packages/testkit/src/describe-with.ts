import { afterAll, beforeAll, beforeEach, describe } from "vitest";

import { meansSkip } from "./provide.ts";

/**
 * A suite on a service: `open` before its tests, disposed after them. `body` gets a function that gives what was opened,
 * to be called inside of tests and hooks. Where the service cannot be had the tests are skipped with one loud line; in
 * CI they fail.
 */
export function describeWith<T extends AsyncDisposable>(
  name: string,
  open: () => Promise<T>,
  body: (opened: () => T) => void,
): void {
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe(name, () => {
    let opened: T | undefined;
    let missing: string | undefined;
    beforeAll(async () => {
      try {
        opened = await open();
      } catch (error) {
        if (!meansSkip(error)) throw error;
        missing = error.message;
        process.stderr.write(`\n!!! SKIPPED: ${name}: ${missing}\n`);
      }
    });
    beforeEach(({ skip }) => {
      if (missing !== undefined) skip(missing);
    });
    afterAll(() => opened?.[Symbol.asyncDispose]());
    body(() => {
      if (opened === undefined) throw new Error(`${name}: asked for before it was opened`);
      return opened;
    });
  });
}
