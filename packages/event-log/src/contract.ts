import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";
import { batching } from "./contract/batching.ts";
import { delivery } from "./contract/delivery.ts";
import { lifecycle } from "./contract/lifecycle.ts";
import { model } from "./contract/model.ts";
import { withTrial, type ContractSubject } from "./contract/trial.ts";

const cases = { ...delivery, ...batching, ...lifecycle, ...model };

export type ContractCase = keyof typeof cases;

/**
 * The suite that every adapter passes on its real service. To be called at the top of a test file. `subject` is
 * called once, before the first case; each case has a topic of its own. A case may be left out only with a
 * reason, which the report then shows.
 */
export function eventLogContract(
  name: string,
  subject: () => Promise<ContractSubject>,
  options: { skip?: Partial<Record<ContractCase, string>> } = {},
): void {
  const reasons = new Map(Object.entries(options.skip ?? {}));
  describeWith(`the event log's contract: ${name}`, subject, (opened) => {
    for (const [title, run] of Object.entries(cases)) {
      const reason = reasons.get(title);
      const suffix = reason === undefined ? "" : ` (left out: ${reason})`;
      it.skipIf(reason !== undefined)(`${title}${suffix}`, async () => {
        expect.hasAssertions();
        await withTrial(opened(), run);
      });
    }
  });
}
