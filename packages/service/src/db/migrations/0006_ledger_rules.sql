-- Rules of the ledger that only `engraft ledger verify` knew: the database refuses what breaks them, whoever writes it.
-- All locks at once and in the order in which the service takes them: processes of the release before may be at work.
-- As strong as any later file of the same upgrade needs them: a stronger lock on a table whose rows others hold already
-- would wait for those who wait for this.
LOCK TABLE subjects IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE versions, jobs, accounts, transfers IN ACCESS EXCLUSIVE MODE;

-- NOT VALID, here and below: rows that break a rule already must not keep a service from starting, and transfers could
-- not even be mended. `engraft ledger verify` names those of the ledger.

-- An account is named by its kind and project, so that a transfer shows between which kinds and in which project it is.
ALTER TABLE accounts ADD CONSTRAINT accounts_named_by_kind_and_project
  CHECK (id = CASE kind WHEN 'issued' THEN 'issued' ELSE kind || ':' || project_id END) NOT VALID;
CREATE TRIGGER accounts_begin_empty BEFORE INSERT ON accounts
  FOR EACH ROW WHEN (NEW.balance_microusd <> 0) EXECUTE FUNCTION refuse_change('an account begins empty');
CREATE TRIGGER accounts_keep_their_names BEFORE UPDATE OF id, kind, project_id ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('an account keeps its id, kind and project');
CREATE TRIGGER accounts_stay BEFORE DELETE OR TRUNCATE ON accounts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('accounts are never deleted');

ALTER TABLE transfers
  ADD CONSTRAINT transfers_between_the_kinds_of_their_kind CHECK (
    (kind, split_part(from_account, ':', 1), split_part(to_account, ':', 1)) IN (
      ('grant', 'issued', 'available'), ('reserve', 'available', 'reserved'), ('post', 'reserved', 'spent'),
      ('void', 'reserved', 'available'), ('hosting', 'available', 'spent'))) NOT VALID,
  ADD CONSTRAINT transfers_within_one_project CHECK (
    kind = 'grant' OR
    substr(from_account, strpos(from_account, ':')) = substr(to_account, strpos(to_account, ':'))) NOT VALID,
  ADD CONSTRAINT transfers_name_the_version_they_host CHECK ((kind = 'hosting') = (version_id IS NOT NULL)) NOT VALID;

CREATE FUNCTION check_hosting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM versions JOIN subjects ON subjects.id = versions.subject_ref
    WHERE versions.id = NEW.version_id AND NEW.from_account = 'available:' || subjects.project_id
  ) THEN
    RAISE EXCEPTION 'hosting of version % is paid from %, which is not of its project', NEW.version_id, NEW.from_account
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_host_versions_of_their_project AFTER INSERT ON transfers
  FOR EACH ROW WHEN (NEW.kind = 'hosting') EXECUTE FUNCTION check_hosting();

-- "There is no moment at which a job is done and not charged, or charged and not done." Looked at when a transaction
-- commits: between two of its statements a job has no reservation yet, or is charged and not done.
CREATE FUNCTION check_job_money() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  checked_job text;
  difference text;
BEGIN
  IF TG_TABLE_NAME = 'jobs' THEN checked_job := NEW.id; ELSE checked_job := NEW.job_id; END IF;
  SELECT CASE
      WHEN reserved IS NULL THEN 'has no reservation'
      WHEN NOT of_its_project THEN 'has transfers of another project'
      WHEN reserved <> reserved_microusd
        THEN format('records a reservation of %s micro-USD; its transfer moves %s', reserved_microusd, reserved)
      WHEN settled AND posted <> charged_microusd
        THEN format('is charged %s micro-USD; %s are posted', charged_microusd, posted)
      WHEN settled AND posted + voided <> reserved
        THEN format('reserved %s micro-USD; %s are posted and %s voided', reserved, posted, voided)
      WHEN NOT settled AND posted + voided <> 0
        THEN format('is not settled, but %s micro-USD leave its reservation', posted + voided)
    END
    INTO difference
    FROM jobs, LATERAL (
      SELECT sum(amount_microusd) FILTER (WHERE kind = 'reserve') AS reserved,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'post'), 0) AS posted,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'void'), 0) AS voided,
             bool_and(from_account IN ('available:' || project_id, 'reserved:' || project_id)) AS of_its_project
      FROM transfers WHERE job_id = jobs.id
    ) AS entries
    WHERE jobs.id = checked_job;
  IF difference IS NOT NULL THEN
    RAISE EXCEPTION 'job % %', checked_job, difference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER jobs_agree_with_their_transfers
  AFTER INSERT OR UPDATE OF project_id, reserved_microusd, compute_microusd, storage_microusd, settled ON jobs
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_job_money();
CREATE CONSTRAINT TRIGGER transfers_agree_with_their_jobs AFTER INSERT ON transfers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.job_id IS NOT NULL) EXECUTE FUNCTION check_job_money();

CREATE UNIQUE INDEX versions_with_subject ON versions (id, subject_ref);
ALTER TABLE subjects ADD CONSTRAINT subjects_activate_versions_of_their_own
  FOREIGN KEY (active_version_id, id) REFERENCES versions (id, subject_ref) NOT VALID;

-- As before, but with its owner's rights: the service moves balances by transfers, and has no right to set one.
CREATE OR REPLACE FUNCTION apply_transfer() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  -- Anybody may put this function behind a table of their own.
  IF TG_RELID <> 'transfers'::regclass THEN RAISE EXCEPTION 'a balance is moved by a transfer only'; END IF;
  PERFORM 1 FROM accounts WHERE id IN (NEW.from_account, NEW.to_account) ORDER BY id FOR NO KEY UPDATE;
  UPDATE accounts SET balance_microusd = balance_microusd - NEW.amount_microusd WHERE id = NEW.from_account;
  UPDATE accounts SET balance_microusd = balance_microusd + NEW.amount_microusd WHERE id = NEW.to_account;
  RETURN NEW;
END $$;
-- A temporary table named like one of ours must not be taken for it.
DO $$
DECLARE
  trigger_function regprocedure;
BEGIN
  FOREACH trigger_function IN ARRAY
    ARRAY['apply_transfer()', 'check_hosting()', 'check_job_money()']::regprocedure[]
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', trigger_function, current_schema());
  END LOOP;
END $$;
