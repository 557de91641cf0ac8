-- A dispatcher keeps its log of attempts. By hand: psql -v role=NAME -f dispatcher.sql
GRANT SELECT, INSERT ON webhook_attempts TO :"role";
GRANT EXECUTE ON FUNCTION make_partitions, drop_partitions TO :"role";
