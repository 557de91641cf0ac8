-- What is to be gone and to stay away: of a workspace, or of one link of it (else 0), or of one visitor (else ''), the
-- clicks whose `ts` is at most `up_to`. Asked for again it reaches further. Done up to `done_to`. Kept for ever, because
-- a record may be read again at any time.
CREATE TABLE click_erasures (
  workspace_id bigint NOT NULL,
  link_id      bigint NOT NULL,
  visitor      text COLLATE "C" NOT NULL,
  up_to        timestamptz NOT NULL,
  asked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  done_to      timestamptz NOT NULL DEFAULT 'epoch',
  PRIMARY KEY (workspace_id, link_id, visitor)
);

-- Numbers of runs that clicks had which were erased, so that they are no holes. They do not say whose they were.
CREATE TABLE click_erased_ranges (
  edge_run uuid NOT NULL,
  from_seq bigint NOT NULL,
  to_seq   bigint NOT NULL,
  PRIMARY KEY (edge_run, from_seq, to_seq)
);

-- For how many days clicks of a workspace are kept; without a row for ever.
CREATE TABLE click_retention (
  workspace_id bigint PRIMARY KEY,
  days         bigint NOT NULL CHECK (days > 0)
);
