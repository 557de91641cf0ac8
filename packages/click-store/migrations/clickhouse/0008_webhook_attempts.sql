-- The delivery log: each attempt to deliver an event to a target. Of one that is written twice one row stays, because
-- every column of the key and of the partition is the attempt's own. A day is deleted as a whole, 30 days later.
CREATE TABLE IF NOT EXISTS webhook_attempts (
  target       String,
  ts           DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  event_id     UUID,
  number       UInt16,
  event_type   LowCardinality(String),
  workspace_id UInt32,
  replayed     Bool,
  outcome      LowCardinality(String),
  code         LowCardinality(String),
  status       UInt16,
  duration_ms  UInt32 CODEC(T64, ZSTD(1)),
  -- When it is tried again; 1970 for never.
  next_at      DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  response     String CODEC(ZSTD(3)),
  -- A target is one workspace's, so that the rows of a workspace lie in few places.
  INDEX by_workspace workspace_id TYPE set(64) GRANULARITY 1,
  INDEX by_event event_id TYPE bloom_filter(0.001) GRANULARITY 4,
  INDEX by_time ts TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(ts)
ORDER BY (target, ts, event_id, number)
TTL toDateTime(ts) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;
