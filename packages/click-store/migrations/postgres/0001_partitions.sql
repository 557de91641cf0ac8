-- Makes the partitions of a table that these instants fall into, each a month or a day long (`unit`), in UTC. Those that
-- are there are left alone, whoever made them; processes that make the same ones at once wait for each other.
--
-- With its owner's rights, so that who writes need not own the tables. Made first and attached then, because that waits
-- for neither readers nor writers of the table, which CREATE TABLE … PARTITION OF does.
CREATE FUNCTION make_partitions(parent text, unit text, instants timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' AS $$
DECLARE
  first timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7305818005);
  FOR first IN SELECT DISTINCT date_trunc(unit, instant) FROM unnest(instants) AS instant ORDER BY 1 LOOP
    name := parent || to_char(first, CASE unit WHEN 'month' THEN '_YYYY_MM' ELSE '_YYYY_MM_DD' END);
    CONTINUE WHEN EXISTS (
      SELECT FROM pg_inherits
      WHERE inhrelid = to_regclass(quote_ident(name)) AND inhparent = to_regclass(quote_ident(parent))
    );
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES)', name, parent);
    EXECUTE format(
      'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      parent, name, first, first + ('1 ' || unit)::interval
    );
  END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION make_partitions FROM PUBLIC;
