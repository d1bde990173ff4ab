-- How much of its requests per minute each API key has used: a bucket that refills evenly. An ordinary table, because
-- PostgreSQL empties unlogged ones when it recovers from a crash, and a restart must not refill a bucket.
CREATE TABLE rate_limits (
  api_key_id text PRIMARY KEY REFERENCES api_keys,
  -- When the bucket will be full again if no request comes: each request moves it on by a minute / the limit, and
  -- none may move it further than a minute ahead.
  full_at timestamptz NOT NULL
) WITH (fillfactor = 50); -- Room for the next version of a row in its own page, as nearly every statement updates one.
