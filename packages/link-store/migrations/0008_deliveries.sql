-- What still has to be delivered. Every time here is in ms since 1970 by the clock of whoever writes, never the server's.
-- Statements take rows in one order, so that they wait for each other and never in a circle: a target table's,
-- delivery_targets (by target), deliveries (by event, target), delivery_gaps, delivery_events.

-- One row for each endpoint, integration and pixel, made and kept up by the triggers below.
CREATE TABLE delivery_targets (
  -- `ep_1`, `in_1`, `px_1`.
  target text COLLATE "C" PRIMARY KEY,
  workspace_id integer NOT NULL,
  -- Verified and not disabled: what waits for another stays where it is.
  sendable boolean NOT NULL,
  -- Deleted: what waits for it goes, batch by batch, and then this row.
  gone boolean NOT NULL DEFAULT false,
  -- How many rows of `deliveries` it has, counted in the statement that writes them.
  parked bigint NOT NULL DEFAULT 0 CHECK (parked >= 0),
  dead bigint NOT NULL DEFAULT 0 CHECK (dead >= 0),
  paused_until bigint,
  pause_reason text,
  -- The first failure that no success has followed.
  failing_since bigint
) WITH (
  -- Counters that change many times a second: a new version finds room beside the old, and no index is touched.
  fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000
);
CREATE INDEX delivery_targets_workspace ON delivery_targets (workspace_id);
CREATE INDEX delivery_targets_paused ON delivery_targets (paused_until) WHERE paused_until IS NOT NULL;

-- Once for each event, however many targets wait for it.
CREATE TABLE delivery_events (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  workspace_id integer NOT NULL,
  ts bigint NOT NULL,
  link_id bigint,
  visitor text,
  body text NOT NULL,
  -- Last; what was parked just now is not swept away though nobody seems to wait for it yet.
  parked_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

-- No reference to `delivery_events`: checking it would cost half of what parking costs, and events are only deleted here.
CREATE TABLE deliveries (
  event_id uuid NOT NULL,
  target text COLLATE "C" NOT NULL,
  -- Of a row that is taken: when the lease ends.
  due_at bigint NOT NULL,
  lease text,
  -- Attempts so far.
  made smallint NOT NULL,
  replayed boolean NOT NULL,
  -- Why the last attempt failed.
  code text,
  detail text,
  -- Since when nobody tries any more.
  dead_at bigint,
  -- Events first: their ids grow with time, so that parking fills one end of the index; and it says who waits for one.
  PRIMARY KEY (event_id, target)
) WITH (
  -- Every change moves a row in an index, so room beside it would be of no use; dead entries at the head of the queue
  -- cost whoever looks for what is due, so they go soon.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX deliveries_due ON deliveries (target, due_at) WHERE dead_at IS NULL;
CREATE INDEX deliveries_dead ON deliveries (target, dead_at) WHERE dead_at IS NOT NULL;

-- What was over a bound and is not kept, by hours of the events' time.
CREATE TABLE delivery_gaps (
  target text COLLATE "C" NOT NULL,
  hour integer NOT NULL,
  from_ts bigint NOT NULL,
  to_ts bigint NOT NULL,
  count bigint NOT NULL,
  -- Last counted.
  noted_at bigint NOT NULL,
  PRIMARY KEY (target, hour)
);

-- What was sent, or is about to be, to targets that cannot tell a repeat.
CREATE TABLE delivery_ledger (
  event_id uuid NOT NULL,
  target text COLLATE "C" NOT NULL,
  taken_at bigint NOT NULL,
  PRIMARY KEY (event_id, target)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX delivery_ledger_taken_at ON delivery_ledger (taken_at);

CREATE TABLE dispatchers (
  name text PRIMARY KEY,
  seen_at bigint NOT NULL
) WITH (fillfactor = 40);

-- Asked for by a person, carried out by a dispatcher.
CREATE TABLE delivery_tests (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  target text COLLATE "C" NOT NULL,
  -- On success it is enabled again.
  enable boolean NOT NULL,
  requested_at bigint NOT NULL,
  lease text,
  lease_until bigint,
  finished_at bigint,
  ok boolean,
  code text,
  status integer,
  detail text CHECK (octet_length(detail) <= 1024)
);
CREATE INDEX delivery_tests_open ON delivery_tests (requested_at) WHERE finished_at IS NULL;

CREATE FUNCTION keep_delivery_target() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  prefix text := CASE TG_TABLE_NAME WHEN 'webhook_endpoints' THEN 'ep_' WHEN 'integrations' THEN 'in_' ELSE 'px_' END;
  sends boolean;
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE delivery_targets SET gone = true, sendable = false WHERE target = prefix || OLD.id;
    RETURN NULL;
  END IF;
  sends := NEW.verified_at IS NOT NULL AND NEW.disabled_at IS NULL;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO delivery_targets (target, workspace_id, sendable) VALUES (prefix || NEW.id, NEW.workspace_id, sends)
      ON CONFLICT DO NOTHING;
  ELSIF (NEW.workspace_id, sends) IS DISTINCT FROM (OLD.workspace_id, OLD.verified_at IS NOT NULL AND OLD.disabled_at IS NULL) THEN
    UPDATE delivery_targets SET workspace_id = NEW.workspace_id, sendable = sends,
      -- Enabled again: what was before does not count against it.
      failing_since = CASE WHEN OLD.disabled_at IS NULL OR NEW.disabled_at IS NOT NULL THEN failing_since END,
      paused_until = CASE WHEN OLD.disabled_at IS NULL OR NEW.disabled_at IS NOT NULL THEN paused_until END
      WHERE target = prefix || NEW.id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER keep_delivery_target AFTER INSERT OR UPDATE OR DELETE ON webhook_endpoints
  FOR EACH ROW EXECUTE FUNCTION keep_delivery_target();
CREATE TRIGGER keep_delivery_target AFTER INSERT OR UPDATE OR DELETE ON integrations
  FOR EACH ROW EXECUTE FUNCTION keep_delivery_target();
CREATE TRIGGER keep_delivery_target AFTER INSERT OR UPDATE OR DELETE ON pixels
  FOR EACH ROW EXECUTE FUNCTION keep_delivery_target();

INSERT INTO delivery_targets (target, workspace_id, sendable) SELECT prefix || '_' || id, workspace_id, false FROM targets;
