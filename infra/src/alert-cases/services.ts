import type { AlertCase } from "./alert-case.ts";

export const servicesCases: readonly AlertCase[] = [
  {
    alert: "ServiceDown",
    series: { 'up{job="edge",instance="a"}': "1x5 0x20" },
    quietAt: "7m",
    firesAt: "8m",
    labels: { job: "edge", instance: "a" },
  },
  {
    alert: "ServiceUnseen",
    series: { 'up{job="ingester"}': "1x20", 'up{job="dispatcher"}': "1x20" },
    quietAt: "4m",
    firesAt: "5m",
    labels: { job: "edge" },
  },
  { alert: "ServiceNotReady", series: { sluice_ready: "1x5 0x20" }, quietAt: "10m", firesAt: "11m" },
  {
    alert: "ServiceLacking",
    series: { 'sluice_degraded{what="geo"}': "1x20", 'sluice_check_up{check="redis"}': "1x20" },
    quietAt: "9m",
    firesAt: "10m",
    labels: { what: "geo" },
  },
  {
    alert: "ServiceRestarting",
    series: { process_start_time_seconds: "0 0 60 60 120 120 180 180 240 240" },
    quietAt: "7m",
    firesAt: "8m",
  },
];
