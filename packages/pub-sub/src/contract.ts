import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";
import { delivery } from "./contract/delivery.ts";
import { faults } from "./contract/faults.ts";
import { type ContractSubject, withTrial } from "./contract/trial.ts";

const cases = { ...delivery, ...faults };

export type ContractCase = keyof typeof cases;

/**
 * The suite that every adapter passes on its real service. To be called at the top of a test file. A case may be left
 * out only with a reason, which the report then shows.
 */
export function pubSubContract(
  name: string,
  subject: () => Promise<ContractSubject>,
  options: { skip?: Partial<Record<ContractCase, string>> } = {},
): void {
  const reasons = new Map(Object.entries(options.skip ?? {}));
  describeWith(`the contract of messages: ${name}`, subject, (opened) => {
    for (const [title, run] of Object.entries(cases)) {
      const reason = reasons.get(title);
      const suffix = reason === undefined ? "" : ` (left out: ${reason})`;
      it.skipIf(reason !== undefined)(`${title}${suffix}`, async ({ skip }) => {
        expect.hasAssertions();
        await withTrial(opened(), skip, run);
      });
    }
  });
}
