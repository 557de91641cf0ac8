CREATE TABLE workspaces (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> ''),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A domain belongs to one workspace, but others may be allowed to make links on it: a link has a workspace of its own.
CREATE TABLE domains (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id),
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name <> '' AND name = lower(name) AND length(name) <= 253),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE links (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id),
  domain_id integer NOT NULL REFERENCES domains (id),
  -- Compared byte by byte: `Test` and `test` are two links.
  slug text COLLATE "C" NOT NULL CHECK (slug <> '' AND length(slug) <= 512),
  destination text NOT NULL CHECK (octet_length(destination) BETWEEN 1 AND 16384),
  status smallint NOT NULL DEFAULT 302 CHECK (status IN (301, 302, 307, 308)),
  expires_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (domain_id, slug)
);

CREATE TABLE api_keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  -- SHA-256 of the key; the key itself is shown once and never stored.
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz
);
