/**
 * What a link may have besides a destination. Each part is absent unless somebody asked for it, so that a plain link
 * costs a redirect nothing. All destinations are in the form that `normaliseDestination` gives.
 */
export interface LinkOptions {
  /** Milliseconds since 1970; before it the link is not there yet. */
  readonly startsAt?: number;
  /** After so many clicks of people the link is over. */
  readonly maxClicks?: number;
  /** Visitors are asked for it first. As `hashPassword` gives it; the password itself is kept nowhere. */
  readonly passwordHash?: string;
  /** Other destinations for some visitors; the first that fits is taken. 1 to 50. */
  readonly rules?: readonly TargetRule[];
  /** Where visitors whom no rule fits go, by lot, the same for a visitor each time. 2 to 20. */
  readonly variants?: readonly Variant[];
  /** Opened by the app where it is installed, else the destination is. Web or app URLs. */
  readonly apps?: { readonly ios?: string; readonly android?: string };
  /** The visitor's query is appended to the destination. */
  readonly passQuery?: true;
  /** Appended to the destination where it does not have them yet. */
  readonly utm?: Readonly<Partial<Record<UtmName, string>>>;
  /** Search engines are asked to keep the short link out of their index. */
  readonly noindex?: true;
  /** The click's id is appended to the destination, so that a conversion can name it. */
  readonly trackConversions?: true;
}

export type UtmName = "source" | "medium" | "campaign" | "term" | "content";

/** Fits a visitor of whom all conditions that are there are true, each by any of its values. At least one is there. */
export interface TargetRule {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countries?: readonly string[];
  /** ISO 3166-2 as `US-CA`, upper case. */
  readonly regions?: readonly string[];
  readonly devices?: readonly TargetDevice[];
  readonly systems?: readonly TargetSystem[];
  /** Language, or language and region, in lower case: `de` fits `de-AT`, `pt-br` fits only itself. */
  readonly languages?: readonly string[];
  readonly times?: TimeWindow;
  readonly destination: string;
}

export const targetDevices = ["desktop", "mobile", "tablet"] as const;
export type TargetDevice = (typeof targetDevices)[number];

export const targetSystems = ["android", "chromeos", "ios", "linux", "macos", "windows"] as const;
export type TargetSystem = (typeof targetSystems)[number];

/** Every day, or some days, from `from` up to `to`, of a wall clock; over midnight when `to` is not after `from`. */
export interface TimeWindow {
  /** IANA name, such as `Europe/Berlin`. */
  readonly zone: string;
  /** 1 (Monday) to 7; the day on which the window begins. Absent: every day. */
  readonly days?: readonly number[];
  /** `HH:MM`. */
  readonly from: string;
  readonly to: string;
}

export interface Variant {
  readonly destination: string;
  /** 1 to 1,000; a visitor's chance is this part of the sum. */
  readonly weight: number;
}
