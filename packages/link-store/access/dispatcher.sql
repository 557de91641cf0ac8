-- A dispatcher reads where to send, keeps what waits, and says which targets work. By hand: psql -v role=NAME -f dispatcher.sql
GRANT SELECT ON targets, changes TO :"role";
GRANT SELECT (id, url, disabled_at, disabled_reason), UPDATE (verified_at, disabled_at, disabled_reason)
  ON webhook_endpoints, pixels TO :"role";
GRANT SELECT (id, disabled_at, disabled_reason), UPDATE (verified_at, disabled_at, disabled_reason)
  ON integrations TO :"role";
GRANT SELECT, UPDATE, DELETE ON delivery_targets, delivery_tests TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON deliveries, delivery_events, delivery_gaps, delivery_ledger, dispatchers TO :"role";
-- Whether the tables are there.
GRANT SELECT (id) ON links TO :"role";
