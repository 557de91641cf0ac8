import type { Reporter, TestModule } from "vitest/node";

/**
 * Names the tests that passed only at their second try, which CI allows them: a machine that stalls must not hide what
 * the other thousands of tests say. Each is a bug, of the test or of what it tests.
 */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `${module.relativeModuleId} > ${test.fullName}`),
    );
    console.log(
      `${flaky.length} passed at the second try only${flaky.map((name) => `\n  ${name}`).join("")}`,
    );
  }
}
