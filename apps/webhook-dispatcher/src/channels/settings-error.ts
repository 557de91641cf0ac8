export interface SettingsProblem {
  readonly field: string;
  readonly takes: string;
  /** What was given, described: settings are secrets, so a text is told by its length. */
  readonly got: string;
}

/** A target's settings, or its URL, are not what its channel takes. The message may be shown to the customer. */
export class ChannelSettingsError extends Error {
  override readonly name = "ChannelSettingsError";
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    super(problems.map(({ field, takes, got }) => `${field}: takes ${takes}, got ${got}`).join("; "));
    this.problems = problems;
  }
}
