-- How many requests the last statement on a bucket took: requests that come while others are counted are counted
-- together.
ALTER TABLE rate_limits ADD COLUMN taken integer NOT NULL DEFAULT 1 CHECK (taken >= 1);
