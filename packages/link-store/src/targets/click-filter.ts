import type { ClickFilter } from "./target.ts";

/** What of a click decides who wants it, named as in the event. */
export interface FilteredClick {
  readonly link_id: number;
  readonly domain: string;
  /** Empty where it is not known. */
  readonly country: string;
  readonly gpc: boolean;
  /** Of the enrichment: no person made it, or it was fetched ahead of its user. */
  readonly is_bot: boolean;
}

/** Pure. */
export function wants(filter: ClickFilter, click: FilteredClick): boolean {
  return (
    (filter.includeBots || !click.is_bot) &&
    (filter.includeOptedOut || !click.gpc) &&
    (filter.linkIds?.includes(click.link_id) ?? true) &&
    (filter.domains?.includes(click.domain) ?? true) &&
    (filter.countries?.includes(click.country) ?? true)
  );
}
