-- What is to be gone and to stay away: of a workspace, or of one link of it (else 0), or of one visitor (else ''), the
-- clicks whose `ts` is at most `up_to`. Asked for again it reaches further. Done up to `done_to`. Kept for ever, because
-- a record may be read again at any time.
CREATE TABLE IF NOT EXISTS click_erasures (
  workspace_id UInt32,
  link_id      UInt64,
  visitor      String,
  up_to        SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  asked_at     SimpleAggregateFunction(max, DateTime64(3, 'UTC')) DEFAULT now64(3, 'UTC'),
  done_to      SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (workspace_id, link_id, visitor)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Numbers of runs that clicks had which were erased, so that they are no holes. They do not say whose they were.
CREATE TABLE IF NOT EXISTS click_erased_ranges (
  edge_run UUID,
  from_seq UInt64 CODEC(Delta, ZSTD(1)),
  to_seq   UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (edge_run, from_seq, to_seq)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- For how many days clicks of a workspace are kept; without a row, or with 0, for ever.
CREATE TABLE IF NOT EXISTS click_retention (
  workspace_id UInt32,
  days         UInt32,
  set_at       DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY workspace_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
