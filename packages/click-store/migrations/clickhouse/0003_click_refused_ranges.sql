-- Numbers of a run that were used up by clicks which an edge could not journal: no hole in edge_seq is a lost
-- click when it is listed here.
CREATE TABLE IF NOT EXISTS click_refused_ranges (
  edge     String,
  edge_run UUID,
  from_seq UInt64,
  to_seq   UInt64,
  ts       DateTime64(3, 'UTC'),
  reason   LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (edge_run, from_seq, to_seq)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
