/** What is derived from an event alone. */
export interface Enrichment {
  readonly browser: string;
  readonly browser_version: string;
  readonly os: string;
  readonly os_version: string;
  readonly device: string;
  readonly referrer_channel: string;
  readonly is_bot: boolean;
}
