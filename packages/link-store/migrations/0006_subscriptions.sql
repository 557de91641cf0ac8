-- Who wants to be told of clicks. The ingester passes on those that somebody here wants; whom each of them goes to is the
-- dispatcher's business. The columns that say what is wanted are the same in both tables.
CREATE TABLE webhook_endpoints (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  url text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 4096),
  disabled_at timestamptz,
  event_types text[] NOT NULL DEFAULT '{link.clicked}',
  -- NULL: all links of the workspace.
  link_ids bigint[] CHECK (cardinality(link_ids) <= 1000 AND array_position(link_ids, NULL) IS NULL),
  -- Also clicks that no person made, also those of visitors who asked not to be tracked.
  include_bots boolean NOT NULL DEFAULT false,
  include_opted_out boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_endpoints_workspace ON webhook_endpoints (workspace_id);

CREATE TABLE integrations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('ga4', 'mixpanel', 'klaviyo', 'meta')),
  disabled_at timestamptz,
  event_types text[] NOT NULL DEFAULT '{link.clicked}',
  link_ids bigint[] CHECK (cardinality(link_ids) <= 1000 AND array_position(link_ids, NULL) IS NULL),
  include_bots boolean NOT NULL DEFAULT false,
  include_opted_out boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX integrations_workspace ON integrations (workspace_id);

CREATE TRIGGER webhook_endpoints_updated_at BEFORE UPDATE ON webhook_endpoints
  FOR EACH ROW EXECUTE FUNCTION bump_updated_at();
CREATE TRIGGER integrations_updated_at BEFORE UPDATE ON integrations
  FOR EACH ROW EXECUTE FUNCTION bump_updated_at();

-- To readers of an earlier version such a row is one that may be about anything, which is true if dear.
ALTER TABLE changes ADD COLUMN subject text CHECK (subject IS NULL OR (subject = 'subscriptions' AND domain IS NULL));

-- Which one it was is not said: all of them are read again, once for each transaction.
CREATE FUNCTION note_subscription_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO changes (subject)
    SELECT 'subscriptions' WHERE NOT EXISTS (SELECT FROM changes WHERE xid = pg_current_xact_id() AND subject = 'subscriptions');
  RETURN NULL;
END $$;

CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON webhook_endpoints
  FOR EACH ROW EXECUTE FUNCTION note_subscription_change();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON integrations
  FOR EACH ROW EXECUTE FUNCTION note_subscription_change();
CREATE TRIGGER ring_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON webhook_endpoints
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
CREATE TRIGGER ring_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON integrations
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
ALTER TABLE webhook_endpoints ENABLE ALWAYS TRIGGER note_change;
ALTER TABLE integrations ENABLE ALWAYS TRIGGER note_change;
