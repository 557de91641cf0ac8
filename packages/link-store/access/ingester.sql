-- An ingester reads who wants which clicks: no address, and no secret. By hand: psql -v role=NAME -f ingester.sql
GRANT SELECT (prefix, id, workspace_id, event_types, link_ids, include_bots, include_opted_out, verified_at, disabled_at)
  ON targets TO :"role";
GRANT SELECT ON changes TO :"role";
-- Whether the tables are there.
GRANT SELECT (id) ON links TO :"role";
