-- What a statement costs must not grow with what was done before: running sums and counts where rows were added up, and
-- an index for each list. Every lock is taken first and at once as strong as it must be. The release before takes them
-- in more than one order, so the migration may have to give way; then `migrate` repeats it.
LOCK TABLE versions IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE jobs, project_turns, open_jobs, kept_adapters, transfers IN ACCESS EXCLUSIVE MODE;

-- What each project spent in a calendar month (UTC), less what was refunded in it. Adding up 300,000 charges at each
-- admission took 100 ms, while the project's balance was locked.
CREATE TABLE monthly_spending (
  project_id text NOT NULL REFERENCES projects,
  -- Its first day.
  month date NOT NULL,
  spent_microusd bigint NOT NULL,
  -- What learning jobs were charged, without hosting and refunds.
  learning_microusd bigint NOT NULL,
  PRIMARY KEY (project_id, month)
  -- The row changes with every charge; its versions fit into one page.
) WITH (fillfactor = 20);
INSERT INTO monthly_spending (project_id, month, spent_microusd, learning_microusd)
  SELECT accounts.project_id, date_trunc('month', transfers.created_at AT TIME ZONE 'utc')::date,
      sum(CASE accounts.id WHEN to_account THEN amount_microusd ELSE -amount_microusd END),
      coalesce(sum(amount_microusd) FILTER (WHERE accounts.id = to_account AND jobs.kind = 'internalization'), 0)
    FROM accounts
      JOIN transfers ON accounts.id IN (from_account, to_account)
      LEFT JOIN jobs ON jobs.id = transfers.job_id
    WHERE accounts.kind = 'spent' GROUP BY 1, 2;

-- With its owner's rights: the service has no right to set a sum.
CREATE FUNCTION sum_month() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  -- Anybody may put this function behind a table of their own.
  IF TG_RELID <> 'transfers'::regclass THEN RAISE EXCEPTION 'only transfers are added up'; END IF;
  INSERT INTO monthly_spending AS summed (project_id, month, spent_microusd, learning_microusd)
    SELECT project_id, date_trunc('month', NEW.created_at AT TIME ZONE 'utc')::date,
        CASE id WHEN NEW.to_account THEN NEW.amount_microusd ELSE -NEW.amount_microusd END,
        CASE WHEN id = NEW.to_account AND (SELECT kind = 'internalization' FROM jobs WHERE id = NEW.job_id)
          THEN NEW.amount_microusd ELSE 0 END
      FROM accounts WHERE id IN (NEW.from_account, NEW.to_account) AND kind = 'spent'
    ON CONFLICT (project_id, month) DO UPDATE SET
      spent_microusd = summed.spent_microusd + excluded.spent_microusd,
      learning_microusd = summed.learning_microusd + excluded.learning_microusd;
  RETURN NULL;
END $$;
-- After `transfers_apply`, by its name: then the project's accounts are locked.
CREATE TRIGGER transfers_sum_months AFTER INSERT ON transfers
  FOR EACH ROW WHEN (NEW.from_account LIKE 'spent:%' OR NEW.to_account LIKE 'spent:%') EXECUTE FUNCTION sum_month();

-- How many jobs are open in all projects together, in parts whose sum it is. Each connection counts in one of them, so
-- that hardly two transactions wait for each other. Adding up a row for each project grew with the projects.
CREATE TABLE open_jobs_of_service (
  slot integer PRIMARY KEY,
  -- A connection of the API only adds, and one of a worker only subtracts: a part may grow with every job there was.
  jobs bigint NOT NULL
) WITH (fillfactor = 20);
INSERT INTO open_jobs_of_service (slot, jobs) SELECT 0, coalesce(sum(jobs), 0) FROM open_jobs;
CREATE OR REPLACE FUNCTION count_open_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  difference integer := CASE WHEN NEW.status IN ('queued', 'running') THEN 1 ELSE -1 END;
BEGIN
  -- Anybody may put this function behind a table of their own.
  IF TG_RELID <> 'jobs'::regclass THEN RAISE EXCEPTION 'only jobs are counted'; END IF;
  INSERT INTO open_jobs AS counted (project_id, jobs) VALUES (NEW.project_id, difference)
    ON CONFLICT (project_id) DO UPDATE SET jobs = counted.jobs + excluded.jobs;
  INSERT INTO open_jobs_of_service AS counted (slot, jobs) VALUES (pg_backend_pid() % 64, difference)
    ON CONFLICT (slot) DO UPDATE SET jobs = counted.jobs + excluded.jobs;
  RETURN NULL;
END $$;

-- Whose turn it is next, among the projects that wait: a claim stepped through all of them.
ALTER TABLE project_turns
  SET (fillfactor = 20),
  ALTER COLUMN claimed_at SET DEFAULT '-infinity',
  -- The jobs of the kind that are queued.
  ADD COLUMN queued integer NOT NULL DEFAULT 0,
  -- Apart from their number, so that the index changes only with this.
  ADD COLUMN waits boolean NOT NULL GENERATED ALWAYS AS (queued > 0) STORED,
  -- Orders projects that never had a turn.
  ADD COLUMN first_sequence bigint NOT NULL DEFAULT 0;
INSERT INTO project_turns AS turns (project_id, kind, queued, first_sequence)
  SELECT project_id, kind, count(*), min(sequence) FROM jobs WHERE status = 'queued' GROUP BY project_id, kind
  ON CONFLICT (project_id, kind) DO UPDATE SET queued = excluded.queued;
CREATE INDEX project_turns_next ON project_turns (kind, claimed_at, first_sequence) WHERE waits;
CREATE FUNCTION count_queued_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_RELID <> 'jobs'::regclass THEN RAISE EXCEPTION 'only jobs are counted'; END IF;
  INSERT INTO project_turns AS turns (project_id, kind, queued, first_sequence)
    VALUES (NEW.project_id, NEW.kind, CASE NEW.status WHEN 'queued' THEN 1 ELSE -1 END, NEW.sequence)
    ON CONFLICT (project_id, kind) DO UPDATE SET queued = turns.queued + excluded.queued;
  RETURN NULL;
END $$;
-- When a transaction commits, as for `open_jobs`, and after it, by their names.
CREATE CONSTRAINT TRIGGER jobs_queue_when_they_begin AFTER INSERT ON jobs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status = 'queued') EXECUTE FUNCTION count_queued_job();
CREATE CONSTRAINT TRIGGER jobs_queue_until_they_are_claimed AFTER UPDATE OF status ON jobs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((OLD.status = 'queued') <> (NEW.status = 'queued'))
  EXECUTE FUNCTION count_queued_job();

-- A temporary table named like one of ours must not be taken for it. Replacing a function forgets its settings.
DO $$
DECLARE
  trigger_function regprocedure;
BEGIN
  FOREACH trigger_function IN ARRAY
    ARRAY['sum_month()', 'count_open_job()', 'count_queued_job()']::regprocedure[]
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', trigger_function, current_schema());
  END LOOP;
END $$;

-- From now on a record ends with the version that its adapter is of. What is left is looked through by each round of
-- retention; the versions whose files it deletes are found by these indexes.
DELETE FROM kept_adapters USING versions
  WHERE source_job_id = job_id AND versions.adapter_hash = kept_adapters.adapter_hash;
CREATE INDEX versions_with_unneeded_files ON versions (greatest(expires_at, retention_ended_at))
  WHERE retention_ended_at IS NOT NULL AND files_deleted_at IS NULL;
CREATE INDEX versions_erased_with_files ON versions (adapter_hash)
  WHERE erased_at IS NOT NULL AND files_deleted_at IS NULL;
CREATE INDEX versions_damaged ON versions (adapter_hash) WHERE damaged_at IS NOT NULL AND files_deleted_at IS NULL;
CREATE INDEX versions_with_old_rehearsals ON versions (id)
  WHERE rehearsal IS NOT NULL AND files_deleted_at IS NOT NULL;

-- Lists, newest first, without the jobs that callers no longer find. By `-sequence`, an order that no other index has:
-- else the planner may step through everybody's jobs by their sequence, where it takes those of a list to be frequent.
DROP INDEX jobs_of_namespace;
CREATE INDEX jobs_of_namespace ON jobs (project_id, tenant_id, (-sequence)) WHERE forgotten_at IS NULL;
CREATE INDEX jobs_of_project ON jobs (project_id, (-sequence)) WHERE forgotten_at IS NULL;
CREATE INDEX jobs_learning ON jobs (project_id, (-sequence)) WHERE kind = 'internalization';
-- Nearly all jobs have succeeded, so that a list of these need not be looked for.
CREATE INDEX jobs_of_status ON jobs (project_id, status, (-sequence)) WHERE status <> 'succeeded';
CREATE INDEX jobs_ended_otherwise ON jobs (status, sequence) WHERE status NOT IN ('queued', 'running', 'succeeded');
-- Erasure looks for forgotten jobs, too.
CREATE INDEX jobs_of_subject ON jobs (project_id, subject_name, (-sequence));
CREATE INDEX audit_events_of_action ON audit_events (action, id);

-- The entries of a project, newest first: those that leave its accounts, whose amounts `engraft ledger verify` adds up
-- from the index, and the grants. The index of all that an account received cost more than it was worth.
DROP INDEX transfers_from_account, transfers_to_account;
CREATE INDEX transfers_from_account ON transfers (from_account, (-id)) INCLUDE (amount_microusd);
CREATE INDEX transfers_granted ON transfers (to_account, (-id)) WHERE kind = 'grant';
