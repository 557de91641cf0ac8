import { InvalidArgumentError } from "commander";

/** By a click's time, in ms since 1970: from the first, up to but not with the second. */
export interface TimeRange {
  readonly fromTs: number;
  readonly toTs: number;
}

/** A date, or a date and a time with its zone: `2026-11-30`, `2026-11-30T12:00:00Z`, `2026-11-30T13:00+01:00`. */
export function time(text: string): number {
  const form = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
  const ms = form.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError("takes a date, or a time such as 2026-11-30T12:00:00Z.");
  return ms;
}
