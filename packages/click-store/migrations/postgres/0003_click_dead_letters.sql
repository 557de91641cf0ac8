-- Records that could not be stored as clicks, as the bytes they were. Of a letter stored twice the later one stays.
-- Times have whole milliseconds, by which pages of letters go on.
CREATE TABLE click_dead_letters (
  log            text COLLATE "C" NOT NULL,
  topic          text COLLATE "C" NOT NULL,
  record_id      text COLLATE "C" NOT NULL,
  appended_at    timestamptz(3) NOT NULL,
  key            text NOT NULL,
  value          bytea NOT NULL,
  reason         text NOT NULL,
  error          text NOT NULL,
  -- Which Sluice gave the record up, and the number of the click in it as far as its bytes tell: 0 where they do not.
  -- Its run is the record's key.
  sluice_version text NOT NULL,
  edge_seq       bigint NOT NULL,
  stored_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (log, topic, record_id)
);
CREATE INDEX click_dead_letters_by_time ON click_dead_letters (stored_at);

-- What an operator has done about a letter. Beside the letters and not in them: a record that is read again becomes the
-- same letter again, and what was done stays with it. `appended_at` is in the key because a topic that is made anew
-- gives the ids of its records again, to others.
CREATE TABLE click_dead_letter_marks (
  log         text COLLATE "C" NOT NULL,
  topic       text COLLATE "C" NOT NULL,
  record_id   text COLLATE "C" NOT NULL,
  appended_at timestamptz(3) NOT NULL,
  mark        text NOT NULL,
  marked_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (log, topic, record_id, appended_at)
);
