-- A dispatcher keeps its log of attempts, and asks what it must not send any more. By hand: psql -v role=NAME -f dispatcher.sql
GRANT SELECT, INSERT ON webhook_attempts TO :"role";
GRANT SELECT ON click_erasures TO :"role";
GRANT EXECUTE ON FUNCTION make_partitions, drop_partitions TO :"role";
