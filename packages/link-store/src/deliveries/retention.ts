const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Long enough for a person to come back from a holiday and send them again. */
export const deadMs = 30 * dayMs;
/** What is sent again later than that is a replay, which a person asks for. */
export const ledgerMs = 72 * hourMs;
/** A dispatcher shows itself once a second; nobody takes over its share for less than five that it missed. */
export const aliveMs = 5_000;
/** Far longer than a dispatcher is ever cut off without having ended; its row costs nothing. */
export const memberMs = hourMs;
/** A test's outcome is looked at within seconds. */
export const testMs = dayMs;
/** Clocks of dispatchers differ by less, and parking takes less. */
export const unawaitedMs = 10 * minuteMs;
