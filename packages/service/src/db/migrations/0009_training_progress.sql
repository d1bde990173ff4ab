-- How far the training of a learning job has come and where its last snapshot lies, so that whoever claims the job next
-- goes on there; NULL when no training is under way.
ALTER TABLE jobs ADD COLUMN training_progress json;
-- The most steps that any claim of the job has recorded: only what goes beyond them is progress.
ALTER TABLE jobs ADD COLUMN training_steps integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN jobs.attempts IS
  'Claims since the last outcome of a phase or further step of training was stored, less those that were handed back';
