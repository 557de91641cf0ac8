import { defineConfig } from "vitest/config";

// Tests that need root, Docker and some minutes: `.ci/run` runs them, `npm test` does not.
export default defineConfig({
  test: {
    include: ["e2e/src/**/*.docker.test.ts"],
    setupFiles: ["./packages/testkit/src/no-leaks.ts"],
  },
});
