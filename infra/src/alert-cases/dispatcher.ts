import { type AlertCase, firstOfItsKind } from "./alert-case.ts";

export const dispatcherCases: readonly AlertCase[] = [
  {
    alert: "RetriesStopped",
    series: { retry_oldest_due_seconds: "0+60x20" },
    quietAt: "10m",
    firesAt: "11m",
  },
  {
    alert: "DispatchStuck",
    series: { dispatch_oldest_uncommitted_seconds: "0+60x20" },
    quietAt: "3m",
    firesAt: "4m",
  },
  {
    alert: "TargetsUnread",
    series: { dispatch_targets_age_seconds: "0+60x20" },
    quietAt: "3m",
    firesAt: "4m",
  },
  {
    alert: "TargetsUnreadable",
    series: { dispatch_targets_unreadable: "1x20" },
    quietAt: "9m",
    firesAt: "10m",
  },
  {
    alert: "CircuitsOpen",
    series: { 'lane_targets{state="open"}': "4x5 6x20", 'lane_targets{state="known"}': "10x30" },
    quietAt: "15m",
    firesAt: "16m",
    labels: { state: "open" },
  },
  {
    alert: "AttemptsFailing",
    series: {
      'lane_attempts_total{kind="webhook",outcome="delivered"}': "0+40x90",
      'lane_attempts_total{kind="webhook",outcome="retry"}': "0+60x90",
    },
    quietAt: "30m",
    firesAt: "32m",
  },
  firstOfItsKind("DeliveriesDead", 'lane_attempts_total{kind="webhook",outcome="dead"}', {
    kind: "webhook",
    outcome: "dead",
  }),
  { alert: "ManyParked", series: { retry_parked: "100001x90" }, quietAt: "59m", firesAt: "60m" },
  { alert: "BacklogFull", series: { dispatch_backlog_full_total: "0x5 1x20" }, quietAt: "5m", firesAt: "7m" },
  firstOfItsKind("AttemptsUnlogged", 'attempt_log_dropped_total{reason="full"}', { reason: "full" }),
  {
    alert: "AttemptLogBehind",
    series: { attempt_log_oldest_seconds: "0+60x20" },
    quietAt: "6m",
    firesAt: "7m",
  },
];
