-- What has changed of late, for the caches in front of these tables: they ask for what is new several times a second,
-- and at once when the channel `sluice_changes` is rung. Why so: docs/adr/0004.
CREATE TABLE changes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Ids can be seen out of their order, because transactions end out of theirs. All of a transaction below a
  -- snapshot's xmin is seen by that snapshot: so that is what a reader remembers.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- With both it is a link; without a slug the domain itself, not its links; with neither it may be anything.
  domain text,
  slug text CHECK (slug IS NULL OR domain IS NOT NULL)
);
CREATE INDEX changes_xid ON changes (xid);
CREATE INDEX changes_noted_at ON changes (noted_at);

-- With the rights of the tables' owner, so that every writer is heard, whatever it may do to `changes` itself.
CREATE FUNCTION note_link_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    -- With its domain deleted in the same statement there is no name, and the domain's own trigger says it all.
    INSERT INTO changes (domain, slug) SELECT name, OLD.slug FROM domains WHERE id = OLD.domain_id;
  END IF;
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND (NEW.domain_id, NEW.slug) <> (OLD.domain_id, OLD.slug)) THEN
    INSERT INTO changes (domain, slug) SELECT name, NEW.slug FROM domains WHERE id = NEW.domain_id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION note_domain_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO changes (domain) VALUES (NEW.name);
  ELSIF TG_OP = 'UPDATE' AND NEW.name = OLD.name THEN
    IF NEW IS DISTINCT FROM OLD THEN
      INSERT INTO changes (domain) VALUES (NEW.name);
    END IF;
  ELSE
    -- Its links go, or move, with it.
    INSERT INTO changes DEFAULT VALUES;
  END IF;
  RETURN NULL;
END $$;

-- Rings once the transaction has committed, and clears away what every reader has long seen: one that was away for
-- longer takes everything for changed.
CREATE FUNCTION ring_changes() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO changes DEFAULT VALUES;
  END IF;
  -- Commits that notify wait for each other. What is new has nothing old that could be served: it waits to be asked for.
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('sluice_changes', '');
  END IF;
  DELETE FROM changes WHERE id IN (
    SELECT id FROM changes WHERE noted_at < now() - interval '1 hour'
    ORDER BY noted_at LIMIT 100 FOR UPDATE SKIP LOCKED
  );
  RETURN NULL;
END $$;

CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON links
  FOR EACH ROW EXECUTE FUNCTION note_link_change();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON domains
  FOR EACH ROW EXECUTE FUNCTION note_domain_change();
CREATE TRIGGER ring_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON links
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
CREATE TRIGGER ring_changes AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON domains
  FOR EACH STATEMENT EXECUTE FUNCTION ring_changes();
-- Also for rows that replication brings.
ALTER TABLE links ENABLE ALWAYS TRIGGER note_change;
ALTER TABLE domains ENABLE ALWAYS TRIGGER note_change;
