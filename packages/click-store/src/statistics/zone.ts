const dayMs = 86_400_000;

/** A time zone's clocks. "Local" is what they show, as ms since 1970 as if it were UTC. */
export interface Zone {
  /** Local time minus UTC at that moment, in ms. */
  offset(ts: number): number;
  /** The moment in (`from`, `to`] from which on the offset is another than at `from`; assumes that there is at most one. */
  changeWithin(from: number, to: number): number | undefined;
  /** The first moment at which the local time is at least this; assumes at most one change within a day of it. */
  firstMoment(local: number): number;
}

/** `undefined` for a name that is not known here. */
export function createZone(name: string): Zone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  } catch {
    return undefined;
  }
  function offset(ts: number): number {
    const second = Math.floor(ts / 1_000) * 1_000;
    const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN;
    const date = [part("year"), part("month") - 1, part("day")] as const;
    return Date.UTC(...date, part("hour"), part("minute"), part("second")) - second;
  }
  function changeWithin(from: number, to: number): number | undefined {
    const before = offset(from);
    if (offset(to) === before) return undefined;
    // Clocks change with a whole second.
    let [low, high] = [Math.floor(from / 1_000), Math.ceil(to / 1_000)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offset(middle * 1_000) === before) low = middle;
      else high = middle;
    }
    return high * 1_000;
  }
  return {
    offset,
    changeWithin,
    firstMoment(local) {
      const [from, to] = [local - offset(local) - dayMs, local - offset(local) + dayMs];
      const change = changeWithin(from, to);
      const early = local - offset(from);
      if (change === undefined || early < change) return early;
      return Math.max(change, local - offset(to));
    },
  };
}
