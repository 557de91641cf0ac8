-- The runs that the store loop has seen, and when: written before their clicks are, and again every few minutes.
CREATE TABLE IF NOT EXISTS click_runs (
  edge_run UUID,
  seen_at  DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(seen_at)
ORDER BY edge_run
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How far a run has been checked: every number up to `checked_to` is accounted for, or in a hole. Of two processes
-- that check at once the one that has come further is right.
CREATE TABLE IF NOT EXISTS click_run_checks (
  edge_run   UUID,
  checked_to UInt64,
  -- Of the last click at or below it; no click above it is older.
  checked_ts DateTime64(3, 'UTC'),
  checked_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(checked_to)
ORDER BY edge_run;

-- Numbers of a run that nothing accounted for when they were checked. One that is filled later is closed.
CREATE TABLE IF NOT EXISTS click_holes (
  edge_run   UUID,
  from_seq   UInt64,
  to_seq     UInt64,
  -- Of what is stored right before and behind it; 1970 where nothing is.
  from_ts    DateTime64(3, 'UTC'),
  to_ts      DateTime64(3, 'UTC'),
  found_at   DateTime64(3, 'UTC'),
  state      LowCardinality(String),
  updated_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (edge_run, from_seq, to_seq);

-- Letters are looked for by the run whose numbers they account for.
ALTER TABLE click_dead_letters ADD INDEX IF NOT EXISTS by_key key TYPE bloom_filter GRANULARITY 1;
