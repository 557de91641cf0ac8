/** What has to be seen for an alert to fire. */
export interface AlertCase {
  readonly alert: string;
  /** Values in promtool's notation, one a minute: `1+2x3` is 1 3 5 7, `_` is none. */
  readonly series: Readonly<Record<string, string>>;
  /** A minute at which it does not fire yet, and one at which it does. */
  readonly quietAt: string;
  readonly firesAt: string;
  /** Those it carries besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Something was counted for the first time: there was no series before. */
export function firstOfItsKind(alert: string, series: string, labels: Record<string, string>): AlertCase {
  return { alert, series: { [series]: "_x5 1x20" }, quietAt: "4m", firesAt: "5m", labels };
}
