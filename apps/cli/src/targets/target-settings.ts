/**
 * Settings of integrations that are no secrets; docs/forwarding.md has them all. Any other may be one: it is read from
 * standard input alone, and its value is shown to nobody.
 */
export const openSettings: ReadonlySet<string> = new Set([
  "event_name",
  "identifier",
  "measurement_id",
  "metric",
  "pixel_id",
  "project_id",
  "region",
  "revision",
  "username",
]);
