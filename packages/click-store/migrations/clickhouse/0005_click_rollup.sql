-- What a link page asks for, counted once for each hour from the rows without their repeats. An hour is counted again
-- as a whole when something of it has changed; of two rows with one key the higher version counts, and a key that has
-- vanished stays as a row of zeros.
CREATE TABLE IF NOT EXISTS click_rollup (
  workspace_id UInt32,
  link_id      UInt64,
  hour         DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  -- `total`, whose value is empty, or the name of what is told apart by its values.
  dimension    LowCardinality(String),
  value        String CODEC(ZSTD(1)),
  -- People's, and all others: docs/counting.md.
  clicks       UInt64 CODEC(T64, ZSTD(1)),
  bots         UInt64 CODEC(T64, ZSTD(1)),
  -- Exact up to 512 in any answer, 0.8 % off beyond; an exact state would take as much room as the rows.
  visitors     AggregateFunction(uniqCombined64(14), String),
  version      UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(hour)
ORDER BY (workspace_id, link_id, dimension, hour, value)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Which hours of a workspace have changed, and up to which change they are counted: an hour whose `marked_at` is above
-- its `counted_to` is not. Both only ever grow, so it does not matter who writes, how often and in which order.
-- Synced, because a mark must survive a power cut that its rows did.
CREATE TABLE IF NOT EXISTS click_rollup_marks (
  workspace_id UInt32,
  hour         DateTime('UTC'),
  marked_at    SimpleAggregateFunction(max, DateTime64(6, 'UTC')) DEFAULT now64(6, 'UTC'),
  counted_to   SimpleAggregateFunction(max, DateTime64(6, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (workspace_id, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Who counts at present. No lock, which ClickHouse does not have: two who count at once do no harm, only twice the work.
CREATE TABLE IF NOT EXISTS click_rollup_leases (
  name  String,
  owner String,
  until DateTime64(3, 'UTC'),
  at    DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY name;

-- Within a link's day the rows are in order of time: an hour of a busy link is found without reading all of its day.
ALTER TABLE click_events ADD INDEX IF NOT EXISTS by_time ts TYPE minmax GRANULARITY 1;

-- Hours that were stored before there were marks.
INSERT INTO click_rollup_marks (workspace_id, hour)
SELECT DISTINCT workspace_id, toStartOfHour(ts) FROM click_events;
