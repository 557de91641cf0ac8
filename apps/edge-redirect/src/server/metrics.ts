import type { Metrics } from "@sluice/service/metrics.ts";

/** In seconds; fine where the goal for the slowest of a hundred is set, 1 to 3 ms. */
const buckets = [
  0.0001, 0.00025, 0.0005, 0.00075, 0.001, 0.00125, 0.0015, 0.00175, 0.002, 0.00225, 0.0025, 0.00275, 0.003,
  0.004, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5,
];

export type Outcome =
  | "page"
  | "not_found"
  | "gone"
  | "sent_elsewhere"
  | "password_asked"
  | "password_refused"
  | "unavailable"
  | "bad_request"
  | "method_not_allowed"
  | "rate_limited"
  | "visitor_gone"
  | "failed";

/** The last two are for connections over the limit. */
export type ClientError =
  | "malformed"
  | "headers_too_large"
  | "timeout"
  | "proxy_header"
  | "connection_lost"
  | "idle_dropped"
  | "busy_dropped";

export type ServerMetrics = ReturnType<typeof serverMetrics>;

export function serverMetrics(metrics: Metrics) {
  const answers = metrics.counter(
    "http_other_answers_total",
    "Requests that were not redirected, by what became of them",
    ["outcome"],
  );
  const clientErrors = metrics.counter(
    "http_client_errors_total",
    "Connections ended without an answer of the application, by why",
    ["reason"],
  );
  return {
    redirectSeconds: metrics.histogram(
      "http_redirect_seconds",
      "From a request's arrival to the end of its redirect, the journal's write included",
      buckets,
    ),
    connections: metrics.gauge("http_connections", "Open connections of visitors"),
    answered(outcome: Outcome): void {
      answers.inc({ outcome });
    },
    clientError(reason: ClientError): void {
      clientErrors.inc({ reason });
    },
  };
}
