-- The delivery log: each attempt to deliver an event to a target. One that is written again is there already. A
-- partition for each day of UTC; what is old goes by the day.
CREATE TABLE webhook_attempts (
  target       text COLLATE "C" NOT NULL,
  ts           timestamptz(3) NOT NULL,
  event_id     uuid NOT NULL,
  number       bigint NOT NULL,
  event_type   text NOT NULL,
  workspace_id bigint NOT NULL,
  replayed     boolean NOT NULL,
  outcome      text NOT NULL,
  code         text NOT NULL,
  status       bigint NOT NULL,
  duration_ms  bigint NOT NULL,
  -- When it is tried again; 1970 for never.
  next_at      timestamptz(3) NOT NULL,
  response     text NOT NULL,
  PRIMARY KEY (target, ts, event_id, number)
) PARTITION BY RANGE (ts);
CREATE INDEX webhook_attempts_by_workspace ON webhook_attempts (workspace_id, ts);
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (event_id);

-- Drops the partitions that `make_partitions` has made of a table and that end at this instant or before. With its
-- owner's rights, as that has. A reader that holds a partition is waited for no longer than this: whoever asks for
-- other days would wait behind us.
CREATE FUNCTION drop_partitions(parent text, unit text, before timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7305818005);
  FOR name IN
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = to_regclass(quote_ident(parent)) AND relname ~ ('^' || parent || '_\d{4}_\d\d')
      AND relname < parent || to_char(
        date_trunc(unit, before), CASE unit WHEN 'month' THEN '_YYYY_MM' ELSE '_YYYY_MM_DD' END
      )
    ORDER BY 1
  LOOP
    EXECUTE format('DROP TABLE %I', name);
  END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION drop_partitions FROM PUBLIC;
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION drop_partitions SET search_path = %I, pg_temp', current_schema());
END $$;
