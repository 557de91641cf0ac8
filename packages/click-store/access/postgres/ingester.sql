-- An ingester stores clicks, and takes out those that are to be erased. By hand: psql -v role=NAME -f ingester.sql
GRANT SELECT, INSERT ON click_refused_ranges, click_erased_ranges TO :"role";
GRANT SELECT, INSERT, UPDATE ON click_runs, click_holes, click_erasures TO :"role";
GRANT SELECT, INSERT, DELETE ON click_events TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON click_dead_letters TO :"role";
GRANT SELECT ON click_dead_letter_marks, click_retention TO :"role";
GRANT EXECUTE ON FUNCTION make_partitions TO :"role";
