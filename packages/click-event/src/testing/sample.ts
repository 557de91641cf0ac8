import type { ClickEvent } from "../click-event.ts";

/** An ordinary click, about 850 bytes encoded; `changes` replace whole fields. */
export function sampleClick(changes: Partial<ClickEvent> = {}): ClickEvent {
  return {
    v: 1,
    event_id: "01976f5c-8a10-7c3e-9d2b-5f6a7b8c9d0e",
    edge: "fra1",
    edge_run: "01976f5c-0000-7abc-8def-0123456789ab",
    edge_seq: 12_345,
    ts: 1_750_000_000_000,
    workspace_id: 1,
    link_id: 42,
    domain: "go.example.com",
    slug: "summer-sale",
    destination: "https://shop.example.com/campaign/summer?utm_source=newsletter",
    status: 302,
    method: "GET",
    country: "DE",
    region: "Hesse",
    city: "Frankfurt am Main",
    asn: 3320,
    user_agent:
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    client_hints: { mobile: "?0", platform: '"Windows"' },
    referrer_domain: "www.google.com",
    language: "de-DE",
    visitor: "0123456789abcdef0123456789abcdef",
    bot: 0,
    prefetch: false,
    qr: false,
    variant: 0,
    utm: { source: "newsletter", medium: "", campaign: "summer", term: "", content: "" },
    click_ids: {},
    gpc: false,
    ...changes,
  };
}
