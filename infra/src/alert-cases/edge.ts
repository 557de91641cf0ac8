import { type AlertCase, firstOfItsKind } from "./alert-case.ts";

export const edgeCases: readonly AlertCase[] = [
  firstOfItsKind("ClicksRefused", 'edge_clicks_refused_total{reason="full"}', { reason: "full" }),
  {
    alert: "JournalSyncFailing",
    series: { journal_sync_failures_total: "0x5 1x20" },
    quietAt: "5m",
    firesAt: "7m",
  },
  {
    alert: "JournalHalfFull",
    series: {
      journal_bytes: "0+5x60",
      journal_budget_bytes: "100x60",
      journal_oldest_held_seconds: "0+60x60",
    },
    quietAt: "20m",
    firesAt: "21m",
  },
  {
    alert: "JournalFullSoon",
    series: {
      journal_bytes: "0+1x240",
      journal_budget_bytes: "300x240",
      journal_oldest_held_seconds: "0+60x240",
    },
    quietAt: "75m",
    firesAt: "76m",
  },
  {
    alert: "JournalNotShipped",
    series: { edge_oldest_unshipped_seconds: "0+60x20" },
    quietAt: "10m",
    firesAt: "11m",
  },
  {
    alert: "RecordsSetAside",
    series: { edge_set_aside_records_total: "0x5 1x20" },
    quietAt: "5m",
    firesAt: "7m",
  },
  firstOfItsKind("SegmentsOwed", 'journal_owed_segments_total{group="fanout"}', { group: "fanout" }),
  {
    alert: "LinkLevelAway",
    series: { 'link_level_open{level="postgres"}': "1x5 0x20" },
    quietAt: "10m",
    firesAt: "11m",
    labels: { level: "postgres" },
  },
  {
    alert: "EditsLate",
    series: {
      'link_change_age_seconds_bucket{le="2"}': "0+1x60",
      'link_change_age_seconds_bucket{le="10"}': "0+2x60",
      'link_change_age_seconds_bucket{le="+Inf"}': "0+2x60",
    },
    quietAt: "14m",
    firesAt: "17m",
  },
  firstOfItsKind("GeoFileRefused", 'edge_geo_files_total{database="GEO_DB_PATH",outcome="refused"}', {
    database: "GEO_DB_PATH",
    outcome: "refused",
  }),
  {
    alert: "ProxyNotTrusted",
    series: {
      'edge_visitors_total{address="public"}': "0+40x90",
      'edge_visitors_total{address="private"}': "0+60x90",
    },
    quietAt: "30m",
    firesAt: "32m",
  },
  firstOfItsKind("AuditRowsMissing", 'edge_audit_rows_total{outcome="unavailable"}', {
    outcome: "unavailable",
  }),
  {
    alert: "AuditUnchecked",
    series: { edge_audit_unchecked_age_seconds: "0+60x20" },
    quietAt: "15m",
    firesAt: "16m",
  },
];
