-- Numbers of a run that were used up by clicks which an edge could not journal: no hole in edge_seq is a lost
-- click when it is listed here.
CREATE TABLE click_refused_ranges (
  edge     text NOT NULL,
  edge_run uuid NOT NULL,
  from_seq bigint NOT NULL,
  to_seq   bigint NOT NULL,
  ts       timestamptz NOT NULL,
  reason   text NOT NULL,
  PRIMARY KEY (edge_run, from_seq, to_seq)
);
