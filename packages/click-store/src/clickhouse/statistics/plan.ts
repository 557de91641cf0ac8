const hourMs = 3_600_000;
/** Of what is read from the rows. Each costs the planning of a query a little; beyond, neighbours become one. */
const maxRanges = 100;

export interface Range {
  readonly fromTs: number;
  readonly toTs: number;
}

/** Where an answer comes from: whole hours from the rollup, but for those that the rows are read of. */
export interface Plan {
  /** Empty, `fromTs` being `toTs`, when no whole hour is in it. */
  readonly rollup: Range;
  /** Apart from each other, in order, within the question's range. */
  readonly rows: readonly Range[];
  /** What is one bucket's is either one hour of the rollup or from the rows. */
  readonly hoursApart: boolean;
}

/**
 * The rows are read of hours that have changed since they were counted, and of hours that the rollup cannot cut: at the
 * ends of the range, and where a bucket begins inside of one, as days do in India. Reading them of an hour that the
 * rollup has is right as well, and so a list that is too long has its smallest gaps filled.
 */
export function planOf(
  { fromTs, toTs }: Range,
  boundaries: readonly number[],
  changedHours: readonly number[],
): Plan {
  const cut = [fromTs, toTs, ...boundaries].filter((ts) => ts % hourMs !== 0);
  const starts = new Set([...cut, ...changedHours].map((ts) => Math.floor(ts / hourMs) * hourMs));
  const hours = [...starts]
    .toSorted((a, b) => a - b)
    .map((start) => ({ fromTs: Math.max(start, fromTs), toTs: Math.min(start + hourMs, toTs) }))
    .filter((hour) => hour.toTs > hour.fromTs);
  const whole = { fromTs: Math.ceil(fromTs / hourMs) * hourMs, toTs: Math.floor(toTs / hourMs) * hourMs };
  return {
    rollup: whole.toTs > whole.fromTs ? whole : { fromTs, toTs: fromTs },
    rows: joined(hours),
    hoursApart: everyHourBegins([fromTs, ...boundaries], { fromTs: whole.fromTs, toTs }),
  };
}

/** The last hour as well, of which there may be a part only. */
function everyHourBegins(buckets: readonly number[], { fromTs, toTs }: Range): boolean {
  const hours = buckets.filter((ts) => ts % hourMs === 0 && ts >= fromTs);
  return hours.length >= (toTs - fromTs) / hourMs;
}

function joined(ranges: readonly Range[]): Range[] {
  const gaps = ranges.slice(1).map(({ fromTs }, index) => fromTs - (ranges[index]?.toTs ?? fromTs));
  const kept = gaps.toSorted((a, b) => b - a).slice(0, maxRanges - 1);
  // Equal gaps are filled together.
  const least = gaps.length < maxRanges ? 1 : (kept.at(-1) ?? 0) + 1;
  const result: { fromTs: number; toTs: number }[] = [];
  for (const range of ranges) {
    const last = result.at(-1);
    if (last !== undefined && range.fromTs - last.toTs < least) last.toTs = range.toTs;
    else result.push({ ...range });
  }
  return result;
}
