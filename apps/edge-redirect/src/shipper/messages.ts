import { z } from "zod";

/** What the thread is started with. */
export const Task = z.object({
  /** The journal, as the event log takes it. */
  journalUrl: z.string(),
  eventLogUrl: z.string(),
  topic: z.string(),
  group: z.string(),
  /** Where records go that the event log will never take. */
  setAsidePath: z.string(),
  logLevel: z.string(),
});
export type Task = z.infer<typeof Task>;

/** What the thread is told. */
export const Order = z.object({
  kind: z.literal("stop"),
  /** How long it may go on with what is in the journal by now. */
  drainMs: z.number(),
});
export type Order = z.infer<typeof Order>;

/** What the thread says, about once a second. */
export const Report = z.object({
  shipped: z.number(),
  setAside: z.number(),
  oldestInHand: z.exactOptional(z.number()),
  trouble: z.exactOptional(z.string()),
  /** Its own metrics, as Prometheus would scrape them; absent while they do not change. */
  metrics: z.exactOptional(z.string()),
});
export type Report = z.infer<typeof Report>;
