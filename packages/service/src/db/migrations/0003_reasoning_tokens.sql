-- The part of output_tokens that the model thought with; chat completions show it.
ALTER TABLE jobs ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0;
