-- How far the training of a learning job has come and where its last snapshot lies, so that whoever claims the job next goes on there;
-- NULL when no training is under way.
ALTER TABLE jobs ADD COLUMN training_progress json;
-- The most steps that any claim of the job has recorded: only what goes beyond them is progress.
ALTER TABLE jobs ADD COLUMN training_steps integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN jobs.attempts IS
  'Claims since the job last made progress: since the outcome of a phase or a further step of its training was stored. One that is handed back does not count.';
