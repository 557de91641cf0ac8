-- The keys under which edges hash visitors, so that all of them count a visitor as one. Those of today, of tomorrow
-- shortly before it begins, and at most of yesterday: without its key nobody can tell whose hash was whose.
CREATE TABLE visitor_salts (
  -- Days since 1970, UTC.
  day integer PRIMARY KEY,
  salt bytea NOT NULL CHECK (octet_length(salt) = 32)
);
