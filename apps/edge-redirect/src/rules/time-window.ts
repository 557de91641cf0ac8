import type { TimeWindow } from "@sluice/link-store/link-options.ts";

import { createRecent } from "../recent.ts";

const dayNumbers = new Map([
  ["Mon", 1],
  ["Tue", 2],
  ["Wed", 3],
  ["Thu", 4],
  ["Fri", 5],
  ["Sat", 6],
  ["Sun", 7],
]);
const minuteMs = 60_000;

/**
 * Whether a moment (ms since 1970) is in the window, by the wall clock of its zone: an hour that a change to summer
 * time leaves out never comes, one that comes twice counts twice. A zone that this Node does not know never fits.
 */
export function compileTimeWindow({ zone, days, from, to }: TimeWindow): (now: number) => boolean {
  const clock = clockOf(zone);
  if (clock === undefined) return () => false;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const begins = (day: number) => days === undefined || days.includes(day);

  return (now) => {
    const { day, minute } = clock(now);
    if (start < end) return minute >= start && minute < end && begins(day);
    // Over midnight: the early hours belong to the day before.
    return (minute >= start && begins(day)) || (minute < end && begins(day === 1 ? 7 : day - 1));
  };
}

interface WallClock {
  /** 1 (Monday) to 7; 0 before it was read. */
  readonly day: number;
  /** Of the day. */
  readonly minute: number;
}

/** One for each zone, because it takes tens of kilobytes; names in capitals and such are zones of their own here. */
const clocks = createRecent<string, (now: number) => WallClock>(300);

/** `undefined` for a zone that is not known here. */
function clockOf(zone: string): ((now: number) => WallClock) | undefined {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const made = openClock(zone);
  if (made !== undefined) clocks.set(zone, made);
  return made;
}

function openClock(zone: string): ((now: number) => WallClock) | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
  } catch {
    return undefined;
  }
  // Reading it takes microseconds, and it says the same for a minute.
  let readAt = -1;
  let last: WallClock = { day: 0, minute: 0 };
  return (now) => {
    const current = Math.floor(now / minuteMs);
    if (current === readAt) return last;
    readAt = current;
    const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
    last = {
      day: dayNumbers.get(parts.get("weekday") ?? "") ?? 0,
      minute: 60 * Number(parts.get("hour")) + Number(parts.get("minute")),
    };
    return last;
  };
}

/** Of `HH:MM`. */
function minutesOf(time: string): number {
  return 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
}
