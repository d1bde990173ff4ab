-- An operator gives back what was charged, spent → available: of a job once, and of a version each day of hosting once.
-- Never more than was charged.
LOCK TABLE transfers IN ACCESS EXCLUSIVE MODE;

-- NOT VALID, as in 0006: rows that break a rule already must not keep a service from starting.
ALTER TABLE transfers
  DROP CONSTRAINT transfers_kind_check,
  ADD CONSTRAINT transfers_kind_check
    CHECK (kind IN ('grant', 'reserve', 'post', 'void', 'hosting', 'refund')) NOT VALID,
  -- The job's transfers name it. A refund names a job or a version.
  DROP CONSTRAINT transfers_check1,
  ADD CONSTRAINT transfers_name_their_job CHECK (
    CASE kind WHEN 'refund' THEN (job_id IS NULL) <> (version_id IS NULL)
      ELSE (kind IN ('reserve', 'post', 'void')) = (job_id IS NOT NULL) END) NOT VALID,
  DROP CONSTRAINT transfers_between_the_kinds_of_their_kind,
  ADD CONSTRAINT transfers_between_the_kinds_of_their_kind CHECK (
    (kind, split_part(from_account, ':', 1), split_part(to_account, ':', 1)) IN (
      ('grant', 'issued', 'available'), ('reserve', 'available', 'reserved'), ('post', 'reserved', 'spent'),
      ('void', 'reserved', 'available'), ('hosting', 'available', 'spent'), ('refund', 'spent', 'available'))) NOT VALID,
  DROP CONSTRAINT transfers_name_the_version_they_host,
  ADD CONSTRAINT transfers_name_the_version_they_host
    CHECK (kind = 'refund' OR (kind = 'hosting') = (version_id IS NOT NULL)) NOT VALID,
  DROP CONSTRAINT transfers_name_the_day_they_host,
  ADD CONSTRAINT transfers_name_the_day_they_host
    CHECK ((kind IN ('hosting', 'refund') AND version_id IS NOT NULL) = (hosting_day IS NOT NULL)) NOT VALID;
DROP INDEX transfers_once_per_hosting_day;
CREATE UNIQUE INDEX transfers_once_per_hosting_day ON transfers (version_id, hosting_day, kind)
  WHERE hosting_day IS NOT NULL;

CREATE FUNCTION check_hosting_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM transfers
    WHERE kind = 'hosting' AND version_id = NEW.version_id AND hosting_day = NEW.hosting_day
      AND from_account = NEW.to_account AND amount_microusd >= NEW.amount_microusd
  ) THEN
    RAISE EXCEPTION 'the refund of day % of version % to % is more than it was charged for that day',
      NEW.hosting_day, NEW.version_id, NEW.to_account USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER transfers_refund_hosting_that_was_charged AFTER INSERT ON transfers
  FOR EACH ROW WHEN (NEW.kind = 'refund' AND NEW.version_id IS NOT NULL) EXECUTE FUNCTION check_hosting_refund();

-- As in 0006, but with refunds.
CREATE OR REPLACE FUNCTION check_job_money() RETURNS trigger LANGUAGE plpgsql AS $$
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
      WHEN refunded > posted
        THEN format('was charged %s micro-USD; %s are refunded', posted, refunded)
    END
    INTO difference
    FROM jobs, LATERAL (
      SELECT sum(amount_microusd) FILTER (WHERE kind = 'reserve') AS reserved,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'post'), 0) AS posted,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'void'), 0) AS voided,
             coalesce(sum(amount_microusd) FILTER (WHERE kind = 'refund'), 0) AS refunded,
             bool_and(from_account IN ('available:' || project_id, 'reserved:' || project_id, 'spent:' || project_id))
               AS of_its_project
      FROM transfers WHERE job_id = jobs.id
    ) AS entries
    WHERE jobs.id = checked_job;
  IF difference IS NOT NULL THEN
    RAISE EXCEPTION 'job % %', checked_job, difference USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
-- A temporary table named like one of ours must not be taken for it. Replacing a function forgets its settings.
DO $$
DECLARE
  trigger_function regprocedure;
BEGIN
  FOREACH trigger_function IN ARRAY ARRAY['check_hosting_refund()', 'check_job_money()']::regprocedure[] LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', trigger_function, current_schema());
  END LOOP;
END $$;
