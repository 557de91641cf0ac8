import { type AlertCase, firstOfItsKind } from "./alert-case.ts";

const clicks = { topic: "clicks", group: "store" } as const;
const ofClicks = 'topic="clicks",group="store"';

export const eventLogCases: readonly AlertCase[] = [
  // Two members on Redis: the lag is one.
  {
    alert: "LogLag",
    series: {
      [`event_log_lag_records{${ofClicks},partition="0",instance="a"}`]: "100001x20",
      [`event_log_lag_records{${ofClicks},partition="0",instance="b"}`]: "100000x20",
    },
    quietAt: "9m",
    firesAt: "10m",
    labels: clicks,
  },
  {
    alert: "ReaderStuck",
    series: {
      [`event_log_lag_records{${ofClicks},partition="0"}`]: "5x20",
      [`event_log_reader_waiting{${ofClicks}}`]: "1x20",
      [`event_log_fetched_records_total{${ofClicks}}`]: "0+1x5 5x20",
    },
    quietAt: "7m",
    firesAt: "9m",
    labels: clicks,
  },
  {
    alert: "PendingOld",
    series: { [`event_log_oldest_pending_seconds{${ofClicks}}`]: "0+60x20" },
    quietAt: "5m",
    firesAt: "6m",
    labels: clicks,
  },
  {
    alert: "PendingGrowing",
    series: { [`event_log_pending_records{${ofClicks}}`]: "50000+10x60" },
    quietAt: "15m",
    firesAt: "17m",
    labels: clicks,
  },
  firstOfItsKind("RecordsSkipped", `event_log_skipped_records_total{${ofClicks}}`, clicks),
  {
    alert: "RecordsSkipped",
    series: { journal_skipped_records_total: "0x5 1x20" },
    quietAt: "5m",
    firesAt: "7m",
  },
  firstOfItsKind("GroupsLost", `event_log_groups_lost_total{${ofClicks}}`, clicks),
];
