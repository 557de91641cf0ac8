import type { AlertCase } from "./alert-case.ts";

export const redirectCases: readonly AlertCase[] = [
  // Two in a hundred fail from minute 60 on: 14.4 times a tenth of a percent is reached in an hour of them.
  {
    alert: "RedirectsFailing",
    series: {
      http_redirect_seconds_count: "0+1000x180",
      'http_other_answers_total{outcome="failed"}': "0x60 0+20x120",
    },
    quietAt: "75m",
    firesAt: "120m",
  },
  {
    alert: "RedirectsFailingSometimes",
    series: {
      http_redirect_seconds_count: "0+1000x90",
      'http_other_answers_total{outcome="unavailable"}': "0+2x90",
    },
    quietAt: "59m",
    firesAt: "62m",
  },
  {
    alert: "RedirectsSlow",
    series: {
      http_redirect_seconds_count: "0+1000x180",
      'http_redirect_seconds_bucket{le="0.005"}': "0+1000x60 60800+800x120",
    },
    quietAt: "75m",
    firesAt: "120m",
  },
  {
    alert: "RedirectsSlowSometimes",
    series: {
      http_redirect_seconds_count: "0+1000x90",
      'http_redirect_seconds_bucket{le="0.005"}': "0+980x90",
    },
    quietAt: "59m",
    firesAt: "85m",
  },
  {
    alert: "ClicksStopped",
    series: { 'edge_clicks_accepted_total{job="edge"}': "0+120x60 7200x60" },
    quietAt: "74m",
    firesAt: "76m",
    labels: { job: "edge" },
  },
];
