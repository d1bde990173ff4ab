-- Jobs of closed months move out of the tables into files, with their transfers. Their sums stay, so that the ledger
-- can still be checked. The locks are in the order in which the service takes them, and as strong as those of 0022.
LOCK TABLE jobs, transfers IN ACCESS EXCLUSIVE MODE;

-- A file of archived jobs. The row is written before the file and says only its name. It gets the rest in the
-- transaction that removes the jobs. A file whose row has no more than a name says nothing: its jobs are in the tables.
CREATE TABLE archives (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The calendar month (UTC) in which its jobs ended: its first day.
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  -- In the folder of archives. The name is random, so that databases which share a folder never write the same file.
  file text NOT NULL UNIQUE CHECK (file ~ '^[0-9]{4}-[0-9]{2}/[A-Za-z0-9_-]+[.]jsonl[.]gz$'),
  begun_at timestamptz NOT NULL DEFAULT now(),
  moved_at timestamptz,
  jobs bigint,
  transfers bigint,
  -- The sum of its transfers.
  amount_microusd bigint,
  -- Of the file.
  size_bytes bigint,
  sha256 bytea CHECK (octet_length(sha256) = 32),
  CHECK (num_nulls(moved_at, jobs, transfers, amount_microusd, size_bytes, sha256) IN (0, 6))
);
-- Whoever goes on after a crash writes the same file again.
CREATE UNIQUE INDEX archives_begun ON archives (month) WHERE moved_at IS NULL;

-- What the archived transfers of an account add up to, by the calendar month (UTC) of each transfer. There is no
-- foreign key, since it would need a lock on accounts, which the service takes before that on transfers; accounts stay.
CREATE TABLE archived_sums (
  account_id text NOT NULL,
  -- Its first day.
  month date NOT NULL,
  received_microusd bigint NOT NULL,
  sent_microusd bigint NOT NULL,
  -- The part of `received_microusd` that learning jobs were charged.
  learning_microusd bigint NOT NULL,
  PRIMARY KEY (account_id, month)
);

-- The order in which jobs are archived. Jobs that are `ready` stay, since their versions name them.
CREATE INDEX jobs_to_archive ON jobs (updated_at)
  WHERE settled AND forgotten_at IS NOT NULL AND status <> 'ready';

-- The rows of an archive are gone from the tables, so nobody may change what is recorded of them. `archive_jobs` alone
-- sets `engraft.archiving`. The service has no right to delete these rows, whatever it sets.
DROP TRIGGER transfers_immutable ON transfers;
CREATE TRIGGER transfers_immutable BEFORE UPDATE OR TRUNCATE ON transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('transfers are immutable');
CREATE TRIGGER transfers_stay_until_archived BEFORE DELETE ON transfers
  FOR EACH STATEMENT WHEN (current_setting('engraft.archiving', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION refuse_change('transfers are immutable');
CREATE TRIGGER archives_are_recorded_once BEFORE UPDATE ON archives
  FOR EACH STATEMENT WHEN (current_setting('engraft.archiving', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION refuse_change('an archive is recorded by archive_jobs only');
CREATE TRIGGER archives_stay BEFORE DELETE ON archives
  FOR EACH ROW WHEN (OLD.moved_at IS NOT NULL) EXECUTE FUNCTION refuse_change('archives are never deleted');
CREATE TRIGGER archives_stay_together BEFORE TRUNCATE ON archives
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('archives are never deleted');
CREATE TRIGGER archived_sums_come_from_archives BEFORE INSERT OR UPDATE ON archived_sums
  FOR EACH STATEMENT WHEN (current_setting('engraft.archiving', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION refuse_change('archived sums are changed by archive_jobs only');
CREATE TRIGGER archived_sums_stay BEFORE DELETE OR TRUNCATE ON archived_sums
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('archived sums are never deleted');

-- Why the job cannot be archived in this month. NULL if it can.
CREATE FUNCTION why_not_archived(checked_job text, ended_in date) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  closed_before timestamptz := date_trunc('month', now() AT TIME ZONE 'utc') AT TIME ZONE 'utc';
  refusal text;
BEGIN
  SELECT CASE
      WHEN NOT settled THEN 'is not settled'
      WHEN forgotten_at IS NULL THEN 'can still be read'
      WHEN updated_at >= closed_before THEN 'ended in a month that is not closed'
      WHEN date_trunc('month', updated_at AT TIME ZONE 'utc') <> ended_in THEN 'ended in another month'
      WHEN last_at >= closed_before THEN 'has a transfer of a month that is not closed'
      WHEN NOT of_its_project THEN 'has transfers of another project'
      WHEN reserved IS DISTINCT FROM reserved_microusd OR posted <> charged_microusd
          OR posted + voided <> reserved OR refunded > posted
        THEN 'does not agree with its transfers'
    END
    INTO refusal
    FROM jobs, LATERAL (
      SELECT sum(amount_microusd) FILTER (WHERE kind = 'reserve') AS reserved,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'post'), 0) AS posted,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'void'), 0) AS voided,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'refund'), 0) AS refunded,
             max(created_at) AS last_at,
             bool_and(from_account IN ('available:' || project_id, 'reserved:' || project_id, 'spent:' || project_id)
               AND to_account IN ('available:' || project_id, 'reserved:' || project_id, 'spent:' || project_id))
               AS of_its_project
      FROM transfers WHERE job_id = jobs.id
    ) AS entries
    WHERE jobs.id = checked_job;
  RETURN CASE WHEN FOUND THEN refusal ELSE 'is not there' END;
END $$;

-- The only way in which jobs and transfers leave the tables. With its owner's rights: the service has no right to
-- delete them. It adds up the very rows that it deletes, so whoever calls it cannot choose the sums. Foreign keys keep
-- jobs that a version, a kept adapter, a phase or an idempotency key names.
CREATE FUNCTION archive_jobs(
  archive_id bigint, job_ids text[], transfers_in_file bigint, file_size_bytes bigint, file_sha256 bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  ended_in date;
  refusal text;
  moved_transfers bigint;
  moved_microusd bigint;
  moved_jobs bigint;
BEGIN
  SELECT month INTO ended_in FROM archives WHERE id = archive_id AND moved_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'archive % is not begun, or has its jobs', archive_id; END IF;
  -- Nobody adds a transfer to a job that is locked.
  PERFORM FROM jobs WHERE id = ANY (job_ids) ORDER BY sequence FOR UPDATE;
  SELECT format('job %s %s', given, why_not_archived(given, ended_in)) INTO refusal
    FROM unnest(job_ids) AS given WHERE why_not_archived(given, ended_in) IS NOT NULL LIMIT 1;
  IF refusal IS NOT NULL THEN
    RAISE EXCEPTION '%', refusal USING ERRCODE = 'integrity_constraint_violation';
  END IF;

  PERFORM set_config('engraft.archiving', 'on', true);
  WITH moved AS (
    DELETE FROM transfers WHERE job_id = ANY (job_ids) RETURNING *
  ), entries AS (
    SELECT to_account AS account_id, moved.created_at, amount_microusd AS received, 0 AS sent,
        CASE WHEN moved.kind = 'post' AND jobs.kind = 'internalization' THEN amount_microusd ELSE 0 END AS learning
      FROM moved JOIN jobs ON jobs.id = job_id
    UNION ALL
    SELECT from_account, created_at, 0, amount_microusd, 0 FROM moved
  ), summed AS (
    INSERT INTO archived_sums AS kept (account_id, month, received_microusd, sent_microusd, learning_microusd)
      SELECT account_id, date_trunc('month', created_at AT TIME ZONE 'utc')::date,
          sum(received), sum(sent), sum(learning)
        FROM entries GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (account_id, month) DO UPDATE SET
        received_microusd = kept.received_microusd + excluded.received_microusd,
        sent_microusd = kept.sent_microusd + excluded.sent_microusd,
        learning_microusd = kept.learning_microusd + excluded.learning_microusd
  )
  SELECT count(*), coalesce(sum(amount_microusd), 0) INTO moved_transfers, moved_microusd FROM moved;
  IF moved_transfers <> transfers_in_file THEN
    RAISE EXCEPTION 'the jobs have % transfers, and % are in the file', moved_transfers, transfers_in_file;
  END IF;
  DELETE FROM teacher_calls WHERE job_id = ANY (job_ids);
  DELETE FROM jobs WHERE id = ANY (job_ids);
  GET DIAGNOSTICS moved_jobs = ROW_COUNT;
  UPDATE archives SET moved_at = now(), jobs = moved_jobs, transfers = moved_transfers,
      amount_microusd = moved_microusd, size_bytes = file_size_bytes, sha256 = file_sha256
    WHERE id = archive_id;
  PERFORM set_config('engraft.archiving', '', true);
END $$;

-- A temporary table named like one of ours must not be taken for it. Everybody may run a new function unless told.
DO $$
DECLARE
  archiving regprocedure;
BEGIN
  FOREACH archiving IN ARRAY
    ARRAY['why_not_archived(text, date)', 'archive_jobs(bigint, text[], bigint, bigint, bytea)']::regprocedure[]
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', archiving, current_schema());
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', archiving);
  END LOOP;
END $$;
