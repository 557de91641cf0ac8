import { z } from "zod";
import type { Query } from "../postgres.ts";
import type { TargetId } from "../targets/target.ts";
import type { TestOutcome } from "../targets/target-store.ts";
import { Target } from "./target-columns.ts";

const Ids = z.tuple([z.object({ id: z.number() })]);

export async function insertTest(
  query: Query,
  target: TargetId,
  { enable, now }: { enable: boolean; now: number },
): Promise<number> {
  const text = `
    INSERT INTO delivery_tests (target, enable, requested_at) VALUES ($1, $2, $3) RETURNING id::float8 AS id`;
  return Ids.parse(await query(text, [target, enable, now]))[0].id;
}

const Results = z.array(z.object({ ok: z.boolean(), code: z.string(), status: z.int(), detail: z.string() }));

export async function findTestResult(query: Query, id: number): Promise<TestOutcome | undefined> {
  const text =
    "SELECT ok, code, status, detail FROM delivery_tests WHERE id = $1 AND finished_at IS NOT NULL";
  return Results.parse(await query(text, [id]))[0];
}

const Claimed = z.array(z.object({ id: z.number(), target: Target }));

export interface TestClaim {
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  readonly lease: string;
  /** Nobody waits any longer for what was requested before. */
  readonly requestedAfter: number;
}

export async function claimOpenTests(
  query: Query,
  { now, leaseUntil, limit, lease, requestedAfter }: TestClaim,
): Promise<readonly { readonly id: number; readonly target: TargetId }[]> {
  const text = `
    UPDATE delivery_tests SET lease = $3, lease_until = $2 WHERE id IN (
      SELECT id FROM delivery_tests
      WHERE finished_at IS NULL AND coalesce(lease_until, 0) <= $1 AND requested_at > $5
      ORDER BY requested_at LIMIT $4 FOR UPDATE SKIP LOCKED
    ) RETURNING id::float8 AS id, target`;
  return Claimed.parse(await query(text, [now, leaseUntil, lease, limit, requestedAfter]));
}
