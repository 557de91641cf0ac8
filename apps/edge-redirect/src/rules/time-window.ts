import type { TimeWindow } from "@sluice/link-store/link-options.ts";

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

  function fits(now: number): boolean {
    const { day, minute } = clock?.(now) ?? { day: 0, minute: 0 };
    if (start < end) return minute >= start && minute < end && begins(day);
    // Over midnight: the early hours belong to the day before.
    return (minute >= start && begins(day)) || (minute < end && begins(day === 1 ? 7 : day - 1));
  }
  // Reading a wall clock takes microseconds, and says the same for a minute.
  let minute = -1;
  let known = false;
  return (now) => {
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      minute = current;
      known = fits(now);
    }
    return known;
  };
}

function clockOf(zone: string): ((now: number) => { day: number; minute: number }) | undefined {
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
  return (now) => {
    const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
    return {
      day: dayNumbers.get(parts.get("weekday") ?? "") ?? 0,
      minute: 60 * Number(parts.get("hour")) + Number(parts.get("minute")),
    };
  };
}

/** Of `HH:MM`. */
function minutesOf(time: string): number {
  return 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
}
