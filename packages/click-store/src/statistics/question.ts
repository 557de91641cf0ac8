import { type Dimension, dimensions } from "./dimensions.ts";
import type { Filters, Question } from "../statistics.ts";

const maxRangeMs = 10 * 366 * 86_400_000;
/** As `ts` of an event: 2000-01-01 to 2100-01-01. */
const [minTs, maxTs] = [946_684_800_000, 4_102_444_800_000];
/** The longest value that an event can have: a destination. */
const maxValueChars = 16_384;

/** Throws a TypeError that begins with the field's name. For every adapter. */
export function checkQuestion({ workspaceId, linkId, fromTs, toTs, filters = {} }: Question): void {
  whole("workspaceId", workspaceId, 1, 0xffff_ffff);
  whole("linkId", linkId, 1, Number.MAX_SAFE_INTEGER);
  whole("fromTs", fromTs, minTs, maxTs);
  whole("toTs", toTs, minTs, maxTs);
  if (toTs <= fromTs) throw new TypeError("toTs: must be after fromTs");
  if (toTs - fromTs > maxRangeMs) throw new TypeError("toTs: at most ten years after fromTs");
  for (const [name, value] of Object.entries(filters)) {
    checkDimension(`filters.${name}`, name);
    if (typeof value !== "string" || value === "" || value.length > maxValueChars) {
      throw new TypeError(`filters.${name}: a text of 1 to ${maxValueChars} characters`);
    }
  }
}

export function checkDimension(field: string, name: string): void {
  if (!dimensions.some((each) => each === name)) {
    throw new TypeError(`${field}: one of ${dimensions.join(", ")}`);
  }
}

export function checkLimit(limit: number): void {
  whole("limit", limit, 1, 1_000);
}

/** The filters that are set, in the order of `dimensions`. */
export function filtersOf(filters: Filters = {}): { dimension: Dimension; value: string }[] {
  return dimensions.flatMap((dimension) => {
    const value = filters[dimension];
    return value === undefined ? [] : [{ dimension, value }];
  });
}

function whole(field: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new TypeError(`${field}: a whole number, ${min} to ${max}`);
  }
}
