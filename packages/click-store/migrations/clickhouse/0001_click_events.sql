-- One row a click. Every column of the key and of the partition is a function of the event alone, so that a repeat
-- always lands on its twin and merges (and FINAL) leave one of them.
--
-- LowCardinality only where people group by it: each such column costs an insert as much as three plain ones.
-- No TTL: an edge whose clock is wrong writes old timestamps, and those clicks are not ours to delete.
CREATE TABLE IF NOT EXISTS click_events (
  event_id         UUID,
  edge             String,
  edge_run         UUID,
  edge_seq         UInt64 CODEC(Delta, ZSTD(1)),
  ts               DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  workspace_id     UInt32 CODEC(T64, ZSTD(1)),
  link_id          UInt64 CODEC(T64, ZSTD(1)),
  domain           LowCardinality(String),
  slug             String CODEC(ZSTD(1)),
  destination      String CODEC(ZSTD(1)),
  status           UInt16,
  method           String,
  country          LowCardinality(String),
  region           String,
  city             String,
  asn              UInt32,
  user_agent       String CODEC(ZSTD(1)),
  client_hints     Map(String, String),
  referrer_domain  LowCardinality(String),
  language         String,
  visitor          String CODEC(ZSTD(1)),
  bot              UInt32,
  prefetch         Bool,
  qr               Bool,
  variant          UInt8,
  utm_source       LowCardinality(String),
  utm_medium       LowCardinality(String),
  utm_campaign     LowCardinality(String),
  utm_term         String,
  utm_content      String,
  click_ids        Map(String, String),
  gpc              Bool,
  browser          LowCardinality(String),
  browser_version  String,
  os               LowCardinality(String),
  os_version       String,
  device           LowCardinality(String),
  referrer_channel String,
  is_bot           Bool,
  -- For the look-ups of repeats: by run, range of numbers and range of ts. Skipping indexes do not help, because the
  -- key scatters a run over all of a month. This one holds repeats until they are merged, and so may only be asked
  -- whether a number is there. It adds 3 % to an insert, 10 to 20 % to a merge and 8 bytes to a row.
  PROJECTION by_number (SELECT edge_run, edge_seq, ts ORDER BY edge_run, edge_seq)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(ts)
PRIMARY KEY (workspace_id, link_id, toDate(ts))
ORDER BY (workspace_id, link_id, toDate(ts), ts, event_id)
SETTINGS
  -- Counted in inserts; more than can happen between an attempt and its last retry.
  non_replicated_deduplication_window = 20000,
  -- A position in the log must never survive a power cut that its rows did not.
  fsync_after_insert = 1,
  fsync_part_directory = 1,
  -- The projection follows whatever becomes of the rows.
  deduplicate_merge_projection_mode = 'rebuild',
  lightweight_mutation_projection_mode = 'rebuild',
  -- A month that nothing is written to any more becomes one part, where FINAL costs next to nothing.
  min_age_to_force_merge_seconds = 86400,
  min_age_to_force_merge_on_partition_only = 1;

-- What analysts are given: no repeat is ever visible here, and whoever may read it needs no right to the table.
-- A repeat is always in its twin's month, so months need not be merged with each other.
CREATE VIEW IF NOT EXISTS clicks
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT * FROM click_events FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
