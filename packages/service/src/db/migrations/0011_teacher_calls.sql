-- The calls that teaching a passage makes to a model elsewhere. A row is written before its call is made, and gets the
-- receipt with the answer: after a crash, one without a receipt says that nobody knows what is owed.
CREATE TABLE teacher_calls (
  job_id text NOT NULL REFERENCES jobs,
  -- SHA-256 of what was asked.
  key text NOT NULL,
  -- Without it the other columns say nothing.
  has_receipt boolean NOT NULL DEFAULT false,
  -- The text, as JSON; removed when the job has ended.
  answer json,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  asked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, key)
);
