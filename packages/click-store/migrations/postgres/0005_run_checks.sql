-- The runs that the store loop has seen, and when; and how far each has been checked: every number up to `checked_to` is
-- accounted for, or in a hole, and no click above it is older than `checked_ts`.
CREATE TABLE click_runs (
  edge_run   uuid PRIMARY KEY,
  seen_at    timestamptz NOT NULL,
  checked_to bigint NOT NULL DEFAULT 0,
  checked_ts timestamptz NOT NULL DEFAULT 'epoch',
  checked_at timestamptz NOT NULL DEFAULT 'epoch'
);

-- Numbers of a run that nothing accounted for when they were checked. One that is filled later is closed.
CREATE TABLE click_holes (
  edge_run uuid NOT NULL,
  from_seq bigint NOT NULL,
  to_seq   bigint NOT NULL,
  -- Of what is stored right before and behind it; 1970 where nothing is.
  from_ts  timestamptz NOT NULL,
  to_ts    timestamptz NOT NULL,
  found_at timestamptz NOT NULL,
  state    text NOT NULL,
  PRIMARY KEY (edge_run, from_seq, to_seq)
);
CREATE INDEX click_holes_not_filled ON click_holes (edge_run) WHERE state <> 'filled';

-- Letters are looked for by the run whose numbers they account for.
CREATE INDEX click_dead_letters_by_key ON click_dead_letters (key, edge_seq);
