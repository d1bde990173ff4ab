-- When a version's retention ended for good: by an operator, or because a round found its deadline past and the project's
-- settings or balance did not allow another day. Until then a deadline that has passed only means that nobody was
-- there to move it on.
ALTER TABLE versions ADD COLUMN retention_ended_at timestamptz;
-- Why the earlier ones ended is not known; what has expired stays so, but for active versions whose deadline passed within
-- the last day, perhaps because the service was stopped for this upgrade.
UPDATE versions SET retention_ended_at = expires_at
WHERE expires_at <= now()
  AND (expires_at <= now() - interval '1 day' OR id NOT IN (SELECT active_version_id FROM subjects WHERE active_version_id IS NOT NULL));
CREATE INDEX versions_by_deadline ON versions (expires_at) WHERE retention_ended_at IS NULL;

-- What is in the adapter store, or was about to be when a worker died, and for which job: written before the files, and
-- deleted after them.
CREATE TABLE kept_adapters (
  adapter_hash text NOT NULL,
  job_id text NOT NULL REFERENCES jobs,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (adapter_hash, job_id)
);
CREATE INDEX versions_of_adapter ON versions (adapter_hash);
INSERT INTO kept_adapters (adapter_hash, job_id) SELECT adapter_hash, source_job_id FROM versions WHERE files_deleted_at IS NULL;
