-- How many jobs of each project are queued or running. Admission compares this with its limits: counting a hundred
-- thousand rows for each request took tens of milliseconds, twice.
-- Processes of the release before may be at work: whoever changes jobs now is waited for, and then counted.
LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE open_jobs (
  project_id text PRIMARY KEY REFERENCES projects,
  jobs integer NOT NULL
  -- The row changes with every job; its versions fit into one page.
) WITH (fillfactor = 20);
INSERT INTO open_jobs (project_id, jobs)
  SELECT project_id, count(*) FROM jobs WHERE status IN ('queued', 'running') GROUP BY project_id;

-- With its owner's rights: the service has no right to set a count.
CREATE FUNCTION count_open_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  -- Anybody may put this function behind a table of their own.
  IF TG_RELID <> 'jobs'::regclass THEN RAISE EXCEPTION 'only jobs are counted'; END IF;
  INSERT INTO open_jobs AS counted (project_id, jobs)
    VALUES (NEW.project_id, CASE WHEN NEW.status IN ('queued', 'running') THEN 1 ELSE -1 END)
    ON CONFLICT (project_id) DO UPDATE SET jobs = counted.jobs + excluded.jobs;
  RETURN NULL;
END $$;
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION count_open_job() SET search_path = %I, pg_temp', current_schema());
END $$;

-- When a transaction commits: then the lock on the count is the last that it takes, and held for a moment.
CREATE CONSTRAINT TRIGGER jobs_count_when_they_begin AFTER INSERT ON jobs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status IN ('queued', 'running'))
  EXECUTE FUNCTION count_open_job();
CREATE CONSTRAINT TRIGGER jobs_count_until_they_end AFTER UPDATE OF status ON jobs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.status IN ('queued', 'running')) <> (NEW.status IN ('queued', 'running')))
  EXECUTE FUNCTION count_open_job();
