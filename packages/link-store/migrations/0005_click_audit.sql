-- For workspaces that must be able to prove their clicks: a row is here before a click is answered. docs/audit.md.
-- `redirect`: without Postgres the visitor is redirected all the same, and the row comes later, from the journal.
-- `refuse`: without its row there is no redirect and no click.
ALTER TABLE workspaces ADD COLUMN audit text CHECK (audit IN ('redirect', 'refuse'));

-- Links in memory carry their workspace's mode.
CREATE FUNCTION note_workspace_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO changes DEFAULT VALUES;
  RETURN NULL;
END $$;
CREATE TRIGGER note_change AFTER UPDATE OF audit ON workspaces FOR EACH ROW
  WHEN (OLD.audit IS DISTINCT FROM NEW.audit) EXECUTE FUNCTION note_workspace_change();
CREATE TRIGGER ring_changes AFTER UPDATE OF audit ON workspaces
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
ALTER TABLE workspaces ENABLE ALWAYS TRIGGER note_change;

-- No reference to `links` or `workspaces`: what was audited stays when they go.
CREATE TABLE click_audit (
  event_id uuid PRIMARY KEY,
  ts timestamptz NOT NULL,
  workspace_id integer NOT NULL,
  link_id bigint NOT NULL,
  -- Written from the journal, after the answer.
  late boolean NOT NULL,
  -- The event as it was journaled, byte for byte; of a workspace that refuses, without its place in a run, which it
  -- gets afterwards.
  event json NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX click_audit_by_time ON click_audit (ts, event_id);

-- Rights keep services out; this keeps out everybody who does not first take the trigger away, in plain sight.
CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE insufficient_privilege USING MESSAGE = 'click_audit is only ever added to';
END $$;
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE OR TRUNCATE ON click_audit
  FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();
ALTER TABLE click_audit ENABLE ALWAYS TRIGGER keep_audit;
