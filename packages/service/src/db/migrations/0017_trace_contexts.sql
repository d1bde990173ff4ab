-- What traces call the request that was admitted (W3C `traceparent`), so that the worker's spans belong to it; NULL where
-- no traces are taken, and once the job has ended.
ALTER TABLE jobs ADD COLUMN trace_context text CHECK (trace_context ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$');
