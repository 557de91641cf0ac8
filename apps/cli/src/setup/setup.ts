import { errorLine } from "@sluice/service/mask.ts";
import { createBackoff, patiently } from "@sluice/service/retry.ts";

import type { Context } from "../context.ts";
import { giveAccess } from "./access.ts";
import { migrateClickStore, migratePostgres } from "./migrate.ts";
import { makeTopics, type TopicOptions } from "./topics.ts";

/** Waits for servers that are still on their way up; what does not pass by itself is an error at once. */
export async function setUp(
  context: Context,
  { wait, ...topics }: TopicOptions & { readonly wait: number },
): Promise<void> {
  const deadline = performance.now() + wait * 1_000;
  const patience = {
    signal: new AbortController().signal,
    backoff: createBackoff({ minMs: 200, maxMs: 2_000 }),
    waitOn(error: unknown) {
      const passes = error instanceof Error && "retryable" in error && error.retryable === true;
      if (!passes || performance.now() > deadline) return false;
      context.note(`waiting: ${errorLine(error)}`);
      return true;
    },
  };
  await patiently(() => migratePostgres(context), patience);
  await patiently(() => migrateClickStore(context), patience);
  if (context.addresses.services.length > 0) await patiently(() => giveAccess(context), patience);
  await patiently(() => makeTopics(context, topics), patience);
}
