-- Which Sluice gave the record up, and the number of the click in it as far as its bytes tell: 0 where they do not.
-- Its run is the record's key.
ALTER TABLE click_dead_letters
  ADD COLUMN IF NOT EXISTS sluice_version LowCardinality(String),
  ADD COLUMN IF NOT EXISTS edge_seq UInt64;

-- What an operator has done about a letter. Beside the letters and not in them, because a record that is read again
-- becomes the same letter again, stored later: the later row stays, and what was done stays with it. `appended_at` is
-- in the key because a topic that is made anew gives the ids of its records again, to others.
CREATE TABLE IF NOT EXISTS click_dead_letter_marks (
  log         LowCardinality(String),
  topic       LowCardinality(String),
  record_id   String,
  appended_at DateTime64(3, 'UTC'),
  mark        LowCardinality(String),
  marked_at   DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(marked_at)
ORDER BY (log, topic, record_id, appended_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
