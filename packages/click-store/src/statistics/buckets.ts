import { createZone, type Zone } from "./zone.ts";

export const intervals = ["hour", "day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

const maxBuckets = 1_000;
const hourMs = 3_600_000;

/**
 * Where buckets begin inside of a range (not at its ends), in ms since 1970, ascending: whole seconds, and for every
 * zone of this century whole minutes. A day begins at the first moment that has its date, also where a change of
 * clocks leaves midnight out or makes it twice; an hour at the moment in which its minutes are 0, so that the hour that
 * comes twice when clocks go back is two; a week on Monday.
 *
 * Throws a TypeError that begins with the field's name.
 */
export function boundariesOf(range: {
  readonly fromTs: number;
  readonly toTs: number;
  readonly interval: Interval;
  readonly zone: string;
}): number[] {
  const { fromTs, toTs, interval } = range;
  if (!intervals.includes(interval)) throw new TypeError(`interval: one of ${intervals.join(", ")}`);
  const zone = createZone(range.zone);
  if (zone === undefined) throw new TypeError("zone: an IANA time zone, such as Europe/Berlin");
  const boundaries: number[] = [];
  for (const boundary of interval === "hour" ? hours(zone, fromTs) : dates(zone, fromTs, interval)) {
    if (boundary >= toTs) return boundaries;
    // A day that a zone left out begins and ends at once.
    if (boundary <= (boundaries.at(-1) ?? fromTs)) continue;
    if (boundaries.length + 1 === maxBuckets) {
      throw new TypeError(`interval: the range has more than ${maxBuckets} of it`);
    }
    boundaries.push(boundary);
  }
  return boundaries;
}

/** Without end. */
function* hours(zone: Zone, fromTs: number): Generator<number> {
  for (let at = fromTs; ;) {
    const next = hourFrom(at + zone.offset(at) + 1) - zone.offset(at);
    const change = zone.changeWithin(at, next);
    if (change === undefined || change === next) at = next;
    else at = hourFrom(change + zone.offset(change)) - zone.offset(change);
    yield at;
  }
}

/** The first whole hour at or after. */
function hourFrom(local: number): number {
  return Math.ceil(local / hourMs) * hourMs;
}

/** Without end, from a date at or before the range's first. */
function* dates(zone: Zone, fromTs: number, interval: "day" | "week" | "month"): Generator<number> {
  const first = new Date(fromTs + zone.offset(fromTs));
  const [year, month, day] = [first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()];
  // 1970 began on a Thursday; in JavaScript's week Monday is 1.
  const monday = day - ((first.getUTCDay() + 6) % 7);
  for (let n = 0; ; n += 1) {
    if (interval === "day") yield zone.firstMoment(Date.UTC(year, month, day + n));
    else if (interval === "week") yield zone.firstMoment(Date.UTC(year, month, monday + 7 * n));
    else yield zone.firstMoment(Date.UTC(year, month + n, 1));
  }
}
