-- What is inserted is on the disk when it is acknowledged; what is merged of it is not for some seconds. Until then a
-- power cut leaves the parts that it was merged of, if they are still there: a server keeps them for eight minutes by
-- default, the engine from npm for a few seconds. For every table whose inserts are synced.
ALTER TABLE click_events MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_dead_letters MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_dead_letter_marks MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_refused_ranges MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_rollup MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_rollup_marks MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_runs MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_erasures MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_erased_ranges MODIFY SETTING old_parts_lifetime = 480;
ALTER TABLE click_retention MODIFY SETTING old_parts_lifetime = 480;
