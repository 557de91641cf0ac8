/**
 * What was measured, on two cores (AMD EPYC) that load, servers and app shared, Node 24.21; by `npm run bench -- NAME`.
 * Yours differ: measure there, and change them here.
 */
export const measured = {
  /** `redirects`: with the click captured and journaled, on one core. */
  redirectsPerSecond: 33_000,
  /** `sizes`: a click in the journal, and in a batch of a quiet edge in Kafka, where a busy one's is half of that. */
  journalBytes: 945,
  kafkaBytes: 218,
  /** `sizes`: a row in ClickHouse, merged, every visitor another one. */
  rowBytes: 98,
  /** `catch-up-kafka`: from Kafka into ClickHouse, by one ingester beside both; 27,000 to 36,000. */
  storedPerSecond: 27_000,
  /** `webhooks`: signed deliveries of one dispatcher to a receiver beside it; rows that it parks. */
  deliveredPerSecond: 4_800,
  parkedPerSecond: 17_000,
} as const;
