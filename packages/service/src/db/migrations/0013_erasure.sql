-- Callers' texts need not be kept for ever. The rows of jobs, versions and subjects stay, since the ledger refers to them.

-- When an operator erased the subject: it has no name any more, and nobody finds it.
ALTER TABLE subjects ADD COLUMN erased_at timestamptz;
-- NULL: nobody can rehearse it any more, or it was erased.
ALTER TABLE versions ALTER COLUMN rehearsal DROP NOT NULL;
-- Its files are deleted without delay.
ALTER TABLE versions ADD COLUMN erased_at timestamptz;
CREATE INDEX versions_of_parent ON versions (parent_version_id) WHERE parent_version_id IS NOT NULL;
-- When its texts were removed, its answer and its idempotency key with them: callers find it no more.
ALTER TABLE jobs ADD COLUMN forgotten_at timestamptz;
CREATE INDEX jobs_by_end ON jobs (updated_at) WHERE settled AND forgotten_at IS NULL;
CREATE INDEX idempotency_keys_of_job ON idempotency_keys (job_id);
