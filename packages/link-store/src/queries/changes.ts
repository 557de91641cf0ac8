import { z } from "zod";
import type { ChangePage } from "../change-log.ts";
import type { Query } from "../postgres.ts";

/** Asked several times a second: an answer that takes longer is no better than none. */
const timeoutMs = 500;

const Page = z.tuple([
  z.object({
    position: z.number(),
    changes: z.array(
      z.object({
        id: z.int(),
        position: z.int(),
        ageMs: z.number(),
        domain: z.string().nullable(),
        slug: z.string().nullable(),
        subject: z.literal("subscriptions").nullable(),
      }),
    ),
  }),
]);

/** Newest first. Transaction ids are 64 bits wide; a server that has used up 2^53 of them is millennia old. */
export async function readChanges(query: Query, after: number, limit: number): Promise<ChangePage> {
  // By `xid`, which has an index: the newest come first, and what was seen long ago is not looked at.
  const text = `
    WITH late AS (
      SELECT id, xid::text::float8 AS position, domain, slug, subject,
        extract(epoch FROM clock_timestamp() - noted_at) * 1000 AS "ageMs"
      FROM changes WHERE xid >= $1::text::xid8 ORDER BY xid DESC LIMIT $2
    )
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS position,
      (SELECT coalesce(json_agg(late ORDER BY id DESC), '[]') FROM late) AS changes`;
  return Page.parse(await query(text, [String(after), limit], timeoutMs))[0];
}
