import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";
import { attempts } from "./contract/attempts.ts";
import { erasures } from "./contract/erasures.ts";
import { faults } from "./contract/faults.ts";
import { inserts } from "./contract/inserts.ts";
import { letters } from "./contract/letters.ts";
import { lookUps } from "./contract/look-ups.ts";
import { reconciliation } from "./contract/reconciliation.ts";
import { runChecks } from "./contract/run-checks.ts";
import { statistics } from "./contract/statistics.ts";
import { storedClicks } from "./contract/stored-clicks.ts";
import { type ContractSubject, withTrial } from "./contract/trial.ts";
import { values } from "./contract/values.ts";

const cases = {
  ...values,
  ...inserts,
  ...lookUps,
  ...letters,
  ...reconciliation,
  ...runChecks,
  ...statistics,
  ...erasures,
  ...attempts,
  ...storedClicks,
  ...faults,
};

/**
 * The suite that every adapter passes on its real server. To be called at the top of a test file. Each case has runs of
 * its own in the same tables.
 */
export function clickStoreContract(name: string, subject: () => Promise<ContractSubject>): void {
  describeWith(`the contract of the click store: ${name}`, subject, (opened) => {
    it.each(Object.entries(cases))("%s", async (_, run) => {
      expect.hasAssertions();
      await withTrial(opened(), run);
    });
  });
}
