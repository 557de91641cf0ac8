import type { TargetStore, TestOutcome } from "@sluice/link-store/targets/target-store.ts";
import type { Target, TargetId } from "@sluice/link-store/targets/target.ts";
import { sleep } from "@sluice/service/retry.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import type { Json } from "../open-links.ts";
import { openTargets } from "../open-targets.ts";
import { plainText } from "../plain-text.ts";
import { groupOf } from "./target-groups.ts";

/** A dispatcher looks twice a second, and its requests end after 15 s; another takes over after 30 s. */
const patienceMs = 60_000;
const lookEveryMs = 250;

/** Sends a test to a target, and says what came of it; the exit status is 1 for a failure. */
export async function testTarget(
  context: Context,
  id: TargetId,
  { enable = false, json = false }: Json & { readonly enable?: boolean },
): Promise<void> {
  await using targets = await openTargets(context);
  const outcome = await tryTarget(targets, context, id, enable);
  if (outcome === undefined) throw new ServiceError("config", `${nobody}: ${id} was not tested`);
  const { ok } = outcome;
  const after = ok && enable ? ": enabled" : "";
  context.print(plainText(json ? JSON.stringify({ id, ...outcome }) : `${id}  ${told(outcome)}${after}`));
  if (!ok) process.exitCode = 1;
}

/** For one that was made or changed a moment ago: what comes of its test is said beside the result. */
export async function testFresh(
  targets: TargetStore,
  context: Context,
  { id, verified }: Target,
  isWanted: boolean,
): Promise<void> {
  const outcome = isWanted ? await tryTarget(targets, context, id, false) : undefined;
  const why = isWanted ? `${nobody}: it was not tested` : "it was not tested";
  context.note(plainText(`${id}: ${outcome === undefined ? why : told(outcome)}`));
  if (outcome?.ok || verified) return;
  context.note(`It gets nothing until a test succeeds: sluice ${groupOf(id).name} test ${id}`);
}

const nobody = "no dispatcher is alive";

/** Undefined when there is nobody to do it. */
async function tryTarget(
  targets: TargetStore,
  { note }: Context,
  id: TargetId,
  enable: boolean,
): Promise<TestOutcome | undefined> {
  if ((await targets.dispatchersAlive(Date.now())) === 0) return undefined;
  const test = await targets.requestTest(id, { enable, now: Date.now() });
  note(`${id}: a test is on its way`);
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    const outcome = await targets.testResult(test);
    if (outcome !== undefined) return outcome;
    await sleep(lookEveryMs, new AbortController().signal);
  }
  throw new ServiceError(
    "config",
    `nothing was heard of the test for ${patienceMs / 1_000} s: is the dispatcher well?`,
  );
}

function told({ ok, code, status, detail }: TestOutcome): string {
  const answer = status === 0 ? "" : ` (status ${status})`;
  return ok
    ? `the test was delivered${answer}`
    : `the test failed, ${[code, detail].filter((part) => part !== "").join(": ")}${answer}`;
}
