-- What a link has besides a destination, in the form that link-options.ts describes; written and read through one
-- schema. The bound is for the memory of an edge.
ALTER TABLE links ADD COLUMN options jsonb NOT NULL DEFAULT '{}'
  CONSTRAINT links_options_size CHECK (jsonb_typeof(options) = 'object' AND octet_length(options::text) <= 65536);

ALTER TABLE domains
  ADD COLUMN case_mode text NOT NULL DEFAULT 'exact' CHECK (case_mode IN ('exact', 'insensitive')),
  ADD COLUMN home_url text CHECK (octet_length(home_url) BETWEEN 1 AND 16384),
  ADD COLUMN not_found_url text CHECK (octet_length(not_found_url) BETWEEN 1 AND 16384),
  ADD COLUMN verified_at timestamptz,
  -- 122 random bits, to be found in the domain's DNS.
  ADD COLUMN verification_token text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

-- Those that are there have been serving all along.
UPDATE domains SET verified_at = now();

-- Every change counts, whoever makes it; later than the one before, also within one transaction.
CREATE FUNCTION bump_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at + interval '1 microsecond');
  RETURN NEW;
END $$;
CREATE TRIGGER links_updated_at BEFORE UPDATE ON links FOR EACH ROW EXECUTE FUNCTION bump_updated_at();
CREATE TRIGGER domains_updated_at BEFORE UPDATE ON domains FOR EACH ROW EXECUTE FUNCTION bump_updated_at();

-- A domain that takes `Test` for `test` has its slugs in lower case, so the mode is settled before the first link. Who
-- makes a link holds a lock on its domain that this update waits for.
CREATE FUNCTION keep_case_mode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM links WHERE domain_id = OLD.id) THEN
    RAISE check_violation USING CONSTRAINT = 'domains_case_mode_settled', MESSAGE = 'the domain has links';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER domains_case_mode BEFORE UPDATE ON domains FOR EACH ROW
  WHEN (OLD.case_mode <> NEW.case_mode) EXECUTE FUNCTION keep_case_mode();
