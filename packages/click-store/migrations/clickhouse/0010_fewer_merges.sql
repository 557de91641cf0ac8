-- Merging costs more than inserting does, and each part of the wide form is 180 files, of the compact one 24.
ALTER TABLE click_events MODIFY SETTING
  -- Ten parts of a size become one, not five: a third less is merged, and there are a few more parts to read.
  merge_selector_base = 10,
  -- In bytes that are not compressed yet: of the default, 10 MiB, nearly every merge is wide.
  min_bytes_for_wide_part = 268435456;
