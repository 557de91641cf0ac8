import { defineConfig } from "vitest/config";

// Long enough for two busy cores: a poll ends as soon as it may, so only a failure waits for it.
const expectSoon = { poll: { timeout: 15_000, interval: 50 } };
// Tests that need Docker have a configuration of their own: vitest.docker.config.ts.
const exclude = ["**/node_modules/**", "**/.data/**", "**/*.docker.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["**/src/**/*.test.ts", "tools/**/*.test.ts"],
          exclude: [...exclude, "**/*.int.test.ts"],
          testTimeout: 20_000,
          expect: expectSoon,
        },
      },
      {
        test: {
          name: "integration",
          include: ["**/src/**/*.int.test.ts"],
          exclude,
          // What a test file starts, it ends: processes and sockets that are left fail it.
          setupFiles: ["./packages/testkit/src/no-leaks.ts"],
          // Two files at a time on two cores: most wait for servers, and three would starve those that measure time.
          maxWorkers: 2,
          // After the unit tests, which take every core.
          sequence: { groupOrder: 1 },
          // Long enough for a broker to start.
          testTimeout: 120_000,
          expect: expectSoon,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
