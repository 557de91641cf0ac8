import { fileURLToPath } from "node:url";
import { z } from "zod";
import { EventLogError } from "../event-log.ts";

const groupNames = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]*(,[A-Za-z0-9][A-Za-z0-9-]*)*$/, "group names separated by commas")
  .transform((text) => text.split(","))
  .default([]);
const bytes = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
const millis = bytes;

/**
 * What a `journal:///path?…` URL may say. `docs/architecture.md` describes the journal; these are its numbers.
 */
const Parameters = z
  .strictObject({
    /** The groups that segments are held for. None: nothing is ever deleted. */
    groups: groupNames,
    /** Those of them for whom nothing is refused: without room, what the others have read goes, and they are owed it. */
    yielding: groupNames,
    /** 72 hours: as long as a Kafka topic keeps what it has, so that a replay reaches as far back. */
    minAgeMs: millis(72 * 3_600_000),
    budgetBytes: bytes(10 * 1024 ** 3),
    reserveBytes: bytes(512 * 1024 ** 2),
    /** 32 MiB: some forty thousand clicks; small beside the budget, large beside the cost of a file. */
    segmentBytes: bytes(32 * 1024 ** 2),
    fsync: z.enum(["interval", "always"]).default("interval"),
    fsyncIntervalMs: millis(200),
    deadAfterMs: millis(3_600_000),
  })
  .refine(
    ({ groups, yielding }) =>
      yielding.every((group) => groups.includes(group)) &&
      (yielding.length === 0 || yielding.length < groups.length),
    { path: ["yielding"], error: "some of the groups, not all" },
  );
export type JournalSettings = z.infer<typeof Parameters> & { readonly dir: string };

/** Rejects with `misuse`, naming the parameter, what it takes and what it got. */
export function parseJournalUrl(text: string): JournalSettings {
  const url = URL.parse(text);
  if (url === null || url.protocol !== "journal:" || url.host !== "" || url.pathname.length < 2) {
    throw new EventLogError(
      "misuse",
      `journal: takes a URL like journal:///var/lib/sluice?groups=store, got "${text}"`,
    );
  }
  const parsed = Parameters.safeParse(Object.fromEntries(url.searchParams));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join(".") || "parameters"}: ${issue.message}`,
    );
    throw new EventLogError("misuse", `journal: ${problems.join("; ")}, got "${url.search}"`);
  }
  return { ...parsed.data, dir: fileURLToPath(`file://${url.pathname}`) };
}
