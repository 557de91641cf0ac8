-- What a customer says of an endpoint or an integration. Values of type bytea are encrypted (src/targets/keyring.ts),
-- each for its own row alone.
ALTER TABLE webhook_endpoints
  ADD COLUMN description text NOT NULL DEFAULT '',
  -- NULL: any.
  ADD COLUMN domains text[] CHECK (cardinality(domains) <= 100),
  ADD COLUMN countries text[] CHECK (cardinality(countries) <= 250),
  ADD COLUMN headers bytea,
  -- NULL only for a row that was written past the store: nothing can be signed for it.
  ADD COLUMN secret bytea,
  -- The one before, with which deliveries are signed as well until then.
  ADD COLUMN old_secret bytea,
  ADD COLUMN old_secret_until timestamptz,
  ADD COLUMN disabled_reason text,
  -- A test delivery to this URL has succeeded; nothing else is sent before.
  ADD COLUMN verified_at timestamptz,
  ADD COLUMN allow_private boolean NOT NULL DEFAULT false,
  ADD COLUMN max_in_flight integer CHECK (max_in_flight BETWEEN 1 AND 1000),
  ADD COLUMN max_per_second double precision CHECK (max_per_second BETWEEN 0.01 AND 10000),
  ADD CHECK ((old_secret IS NULL) = (old_secret_until IS NULL));

ALTER TABLE integrations
  ADD COLUMN description text NOT NULL DEFAULT '',
  ADD COLUMN domains text[] CHECK (cardinality(domains) <= 100),
  ADD COLUMN countries text[] CHECK (cardinality(countries) <= 250),
  ADD COLUMN settings bytea,
  ADD COLUMN disabled_reason text,
  ADD COLUMN verified_at timestamptz,
  ADD COLUMN max_in_flight integer CHECK (max_in_flight BETWEEN 1 AND 1000),
  ADD COLUMN max_per_second double precision CHECK (max_per_second BETWEEN 0.01 AND 10000);

CREATE TABLE pixels (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- A template: src/targets/pixel-macros.ts has what it may name.
  url text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 4096),
  method text NOT NULL DEFAULT 'GET' CHECK (method IN ('GET', 'POST')),
  purpose text NOT NULL DEFAULT 'conversion' CHECK (purpose IN ('conversion', 'retargeting')),
  description text NOT NULL DEFAULT '',
  disabled_at timestamptz,
  disabled_reason text,
  verified_at timestamptz,
  event_types text[] NOT NULL DEFAULT '{link.clicked}',
  link_ids bigint[] CHECK (cardinality(link_ids) <= 1000 AND array_position(link_ids, NULL) IS NULL),
  domains text[] CHECK (cardinality(domains) <= 100),
  countries text[] CHECK (cardinality(countries) <= 250),
  include_bots boolean NOT NULL DEFAULT false,
  include_opted_out boolean NOT NULL DEFAULT false,
  allow_private boolean NOT NULL DEFAULT false,
  max_in_flight integer CHECK (max_in_flight BETWEEN 1 AND 1000),
  max_per_second double precision CHECK (max_per_second BETWEEN 0.01 AND 10000),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pixels_workspace ON pixels (workspace_id);

CREATE TRIGGER pixels_updated_at BEFORE UPDATE ON pixels
  FOR EACH ROW EXECUTE FUNCTION bump_updated_at();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON pixels
  FOR EACH ROW EXECUTE FUNCTION note_subscription_change();
CREATE TRIGGER ring_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON pixels
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
ALTER TABLE pixels ENABLE ALWAYS TRIGGER note_change;

-- Whoever writes another URL: nobody has shown yet that it wants to be sent to.
CREATE FUNCTION forget_verified() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.verified_at := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER forget_verified BEFORE UPDATE OF url ON webhook_endpoints FOR EACH ROW
  WHEN (OLD.url IS DISTINCT FROM NEW.url) EXECUTE FUNCTION forget_verified();
CREATE TRIGGER forget_verified BEFORE UPDATE OF url ON pixels FOR EACH ROW
  WHEN (OLD.url IS DISTINCT FROM NEW.url) EXECUTE FUNCTION forget_verified();

-- The three tables as one, to read. `prefix` and `id` find a row by its key.
CREATE VIEW targets AS
  SELECT 'ep' AS prefix, id, 'webhook' AS kind, workspace_id, description, event_types, link_ids, domains, countries,
    include_bots, include_opted_out, url, 'POST' AS method, NULL AS purpose, headers, secret, old_secret,
    old_secret_until, NULL::bytea AS settings, allow_private, max_in_flight, max_per_second, verified_at, disabled_at,
    disabled_reason
  FROM webhook_endpoints
  UNION ALL
  SELECT 'in', id, kind, workspace_id, description, event_types, link_ids, domains, countries,
    include_bots, include_opted_out, '', 'POST', NULL, NULL, NULL, NULL,
    NULL, settings, false, max_in_flight, max_per_second, verified_at, disabled_at,
    disabled_reason
  FROM integrations
  UNION ALL
  SELECT 'px', id, 'pixel', workspace_id, description, event_types, link_ids, domains, countries,
    include_bots, include_opted_out, url, method, purpose, NULL, NULL, NULL,
    NULL, NULL, allow_private, max_in_flight, max_per_second, verified_at, disabled_at,
    disabled_reason
  FROM pixels;
