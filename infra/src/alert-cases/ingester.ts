import { type AlertCase, firstOfItsKind } from "./alert-case.ts";

export const ingesterCases: readonly AlertCase[] = [
  {
    alert: "NotStored",
    series: { ingest_oldest_unflushed_seconds: "0+60x20" },
    quietAt: "2m",
    firesAt: "3m",
  },
  firstOfItsKind("ClickStoreRefuses", 'ingest_click_store_trouble_total{class="operator",code="60"}', {
    class: "operator",
    code: "60",
  }),
  {
    alert: "MergesBehind",
    series: { ingest_flush_times: "1x5 2x90" },
    quietAt: "65m",
    firesAt: "66m",
  },
  {
    alert: "AcknowledgedRowsMissing",
    series: { click_store_read_back_missing_rows_total: "0x5 1x20" },
    quietAt: "5m",
    firesAt: "7m",
  },
  {
    alert: "CommitsLost",
    series: { ingest_commits_lost_total: "0+10x60" },
    quietAt: "30m",
    firesAt: "40m",
  },
  {
    alert: "IngesterMemory",
    series: { 'process_resident_memory_bytes{job="ingester"}': "400000000x30" },
    quietAt: "14m",
    firesAt: "15m",
    labels: { job: "ingester" },
  },
  {
    alert: "DeadLetters",
    series: { 'ingest_dead_letters_total{reason="not-json"}': "_x5 1x5 1+1x5" },
    quietAt: "4m",
    firesAt: "5m",
    labels: { reason: "not-json" },
  },
  {
    alert: "RollupBehind",
    series: { rollup_oldest_change_seconds: "0+60x90" },
    quietAt: "70m",
    firesAt: "71m",
  },
  { alert: "ErasurePending", series: { erasure_pending: "1x300" }, quietAt: "239m", firesAt: "240m" },
  {
    alert: "ErasuresStopped",
    series: { erasure_last_pass_timestamp_seconds: "0x300" },
    quietAt: "250m",
    firesAt: "251m",
  },
  {
    alert: "ErasedClicksReturn",
    series: { ingest_erased_clicks_total: "0x5 1x20" },
    quietAt: "5m",
    firesAt: "7m",
  },
  {
    alert: "ClicksLost",
    series: {
      'reconcile_missing_numbers{state="missing",instance="a"}': "0x5 3x20",
      'reconcile_missing_numbers{state="missing",instance="b"}': "0x5 3x20",
    },
    quietAt: "5m",
    firesAt: "6m",
    labels: { state: "missing" },
  },
  {
    alert: "ClicksSuspected",
    series: { 'reconcile_missing_numbers{state="suspected"}': "1x20" },
    quietAt: "9m",
    firesAt: "10m",
    labels: { state: "suspected" },
  },
  {
    alert: "ReconcilerStopped",
    series: { reconcile_last_pass_timestamp_seconds: "0x30" },
    quietAt: "10m",
    firesAt: "11m",
  },
  {
    alert: "ReconcilerBehind",
    series: { reconcile_unverified_numbers: "0x30 200000x90" },
    quietAt: "90m",
    firesAt: "91m",
  },
  {
    alert: "SubscriptionsUnread",
    series: { fanout_index_age_seconds: "0+60x20" },
    quietAt: "3m",
    firesAt: "4m",
  },
  {
    alert: "FanOutStuck",
    series: { fanout_oldest_uncommitted_seconds: "0+60x20" },
    quietAt: "3m",
    firesAt: "4m",
  },
  firstOfItsKind("FanOutTooLarge", 'fanout_skipped_total{reason="too-large"}', { reason: "too-large" }),
  { alert: "NoticesCut", series: { pub_sub_connected: "0x20" }, quietAt: "4m", firesAt: "5m" },
];
