-- Records that could not be stored as clicks, as the bytes they were. Identity: log, topic and record; of a letter
-- stored twice the later one stays.
CREATE TABLE IF NOT EXISTS click_dead_letters (
  log          LowCardinality(String),
  topic        LowCardinality(String),
  record_id    String,
  appended_at  DateTime64(3, 'UTC'),
  key          String,
  value_base64 String EPHEMERAL,
  value        String DEFAULT base64Decode(value_base64) CODEC(ZSTD(3)),
  reason       LowCardinality(String),
  error        String,
  stored_at    DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(stored_at)
ORDER BY (log, topic, record_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
