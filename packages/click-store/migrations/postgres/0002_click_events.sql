CREATE TABLE click_events (
  event_id         uuid NOT NULL,
  edge             text NOT NULL,
  edge_run         uuid NOT NULL,
  edge_seq         bigint NOT NULL,
  ts               timestamptz NOT NULL,
  workspace_id     bigint NOT NULL,
  link_id          bigint NOT NULL,
  domain           text NOT NULL,
  slug             text NOT NULL,
  destination      text NOT NULL,
  status           smallint NOT NULL,
  method           text NOT NULL,
  country          text NOT NULL,
  region           text NOT NULL,
  city             text NOT NULL,
  asn              bigint NOT NULL,
  user_agent       text NOT NULL,
  client_hints     jsonb NOT NULL,
  referrer_domain  text NOT NULL,
  language         text NOT NULL,
  visitor          text NOT NULL,
  bot              bigint NOT NULL,
  prefetch         boolean NOT NULL,
  qr               boolean NOT NULL,
  variant          smallint NOT NULL,
  utm_source       text NOT NULL,
  utm_medium       text NOT NULL,
  utm_campaign     text NOT NULL,
  utm_term         text NOT NULL,
  utm_content      text NOT NULL,
  click_ids        jsonb NOT NULL,
  gpc              boolean NOT NULL,
  browser          text NOT NULL,
  browser_version  text NOT NULL,
  os               text NOT NULL,
  os_version       text NOT NULL,
  device           text NOT NULL,
  referrer_channel text NOT NULL,
  is_bot           boolean NOT NULL,
  -- A repeat carries the number and the ts of its twin. It is also what the look-ups of repeats need, and grows at its
  -- end; a key of event ids would be a second index as large.
  PRIMARY KEY (edge_run, edge_seq, ts)
) PARTITION BY RANGE (ts);
CREATE INDEX click_events_by_time ON click_events USING brin (ts) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX click_events_by_link ON click_events (workspace_id, link_id, ts);

CREATE VIEW clicks AS SELECT * FROM click_events;
