import { type DeadLetters, openDeadLetters } from "@sluice/click-store/dead-letters.ts";
import { eraseDue, knownAfterMs, lettersOf } from "@sluice/click-store/erase.ts";
import { type Erasure, type Erasures, openErasures } from "@sluice/click-store/erasures.ts";
import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import { sleep } from "@sluice/service/retry.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";
import { existing } from "../links/links.ts";
import { existingWorkspace, openLinks } from "../open-links.ts";
import { openDeliveries } from "../open-targets.ts";
import { openAudit } from "./audit.ts";

export interface Erasing {
  readonly before?: number;
  readonly dryRun?: boolean;
  /** False not to. */
  readonly wait: boolean;
}

type Scope = Omit<Erasure, "upTo">;

export async function eraseLink(
  context: Context,
  slug: string,
  options: Erasing & { readonly domain: string },
): Promise<void> {
  await using links = await openLinks(context);
  const { workspaceId, id } = await existing(links, options.domain, slug);
  await erase(context, { workspaceId, linkId: id }, options);
}

export async function eraseWorkspace(context: Context, name: string, options: Erasing): Promise<void> {
  await erase(context, { workspaceId: await existingWorkspace(context, name) }, options);
}

export async function eraseVisitor(
  context: Context,
  visitor: string,
  options: Erasing & { readonly workspace: string },
): Promise<void> {
  const workspaceId = await existingWorkspace(context, options.workspace);
  await erase(context, { workspaceId, visitor }, options);
}

/**
 * The one place that takes clicks out of all that keeps them, apart from what expires by itself: the event log and the
 * edges' journals. Stopped at any point, the ingester finishes it, but for what waits for delivery.
 */
async function erase(
  context: Context,
  scope: Scope,
  { before = Date.now(), dryRun = false, wait }: Erasing,
): Promise<void> {
  const url = await context.addresses.clickStoreUrl();
  await using erasures = await openErasures(url);
  await using letters = await openDeadLetters(url);
  await using deliveries = await openDeliveries(context);
  const erasure = { ...scope, upTo: before - 1 };
  const stores = { erasures, letters, deliveries };
  const found = await count(stores, erasure);
  if (dryRun) return context.print(`${found} would be erased`);
  await erasures.add(erasure, never);
  context.note("Kept out from now on.");
  if (wait) await untilKnown(context);
  const erased = await count(stores, erasure);
  // First, because no ingester finishes this part.
  await deliveries.erase(erasure);
  await eraseDue(erasures, letters, { signal: never, ...(!wait && { knownAfterMs: 0 }) });
  context.print(`${erased} erased`);
  const left = await erasures.count([erasure], never);
  if (left > 0)
    throw new ServiceError(
      "config",
      `${left} clicks are still there: the ingester takes them within the hour`,
    );
  await noteAudit(context, scope.workspaceId);
}

interface Stores {
  readonly erasures: Erasures;
  readonly letters: DeadLetters;
  readonly deliveries: DeliveryStore;
}

async function count({ erasures, letters, deliveries }: Stores, erasure: Erasure): Promise<string> {
  const clicks = await erasures.count([erasure], never);
  const { length } = await lettersOf(letters, [erasure], 0, never);
  const waiting = await deliveries.countErased(erasure);
  return `${clicks} clicks, ${length} dead letters and ${waiting} clicks that wait for delivery`;
}

async function untilKnown({ note, progress }: Context): Promise<void> {
  const seconds = Math.ceil(knownAfterMs / 1_000) + 1;
  note(
    `In ${seconds} s every ingester knows of it, and what is stored goes. Ctrl-C leaves that to the ingester.`,
  );
  using shown = progress(seconds);
  for (let passed = 0; passed < seconds; passed += 1) {
    await sleep(1_000, never);
    shown.advance(1);
  }
}

/** Rows that prove clicks are only ever added to; whether they have to go as well is for a person to say. */
async function noteAudit(context: Context, workspaceId: number): Promise<void> {
  await using audit = await openAudit(context);
  if (!(await audit.workspaces()).has(workspaceId)) return;
  context.note(
    "The workspace is audited: its rows in click_audit stay. docs/audit.md says how they are taken away.",
  );
}

const never = new AbortController().signal;
