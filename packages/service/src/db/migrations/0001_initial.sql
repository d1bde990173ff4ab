-- Everything the service knows, except adapter files. Amounts are integers of micro-USD.
-- Needs PostgreSQL 15 or later (NULLS NOT DISTINCT: the project namespace, tenant NULL, is a tenant of its own).
-- Documents are json, not jsonb: they hold callers' texts and the model's, and jsonb refuses U+0000 and lone surrogates.

CREATE TABLE projects (
  id text PRIMARY KEY,
  name text NOT NULL UNIQUE,
  monthly_spending_limit_microusd bigint CHECK (monthly_spending_limit_microusd >= 0),
  monthly_learning_capacity_microusd bigint CHECK (monthly_learning_capacity_microusd >= 0),
  version_retention_days integer NOT NULL DEFAULT 30 CHECK (version_retention_days >= 1),
  requests_per_minute integer NOT NULL DEFAULT 600 CHECK (requests_per_minute >= 1),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects,
  name text NOT NULL,
  -- SHA-256 of a secret with 256 bits of entropy: nothing to guess, so no slow hash is needed.
  secret_sha256 bytea NOT NULL UNIQUE CHECK (octet_length(secret_sha256) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  tenant_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_keys_project ON api_keys (project_id, created_at);

CREATE TABLE subjects (
  id text PRIMARY KEY,
  project_id text NOT NULL REFERENCES projects,
  tenant_id text,
  -- What callers name it: `subject_id` on the wire.
  name text NOT NULL,
  active_version_id text,
  revision integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (project_id, tenant_id, name)
);
CREATE INDEX subjects_recent ON subjects (project_id, tenant_id, updated_at DESC, id);

CREATE TABLE jobs (
  id text PRIMARY KEY,
  -- Order of admission, for pages that neither skip nor repeat.
  sequence bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  project_id text NOT NULL REFERENCES projects,
  tenant_id text,
  -- NULL for chat completions without a subject, which use base and create no subject.
  subject_ref text REFERENCES subjects,
  subject_name text NOT NULL,
  api_key_id text NOT NULL REFERENCES api_keys,
  kind text NOT NULL CHECK (kind IN ('inference', 'internalization')),
  status text NOT NULL DEFAULT 'queued' CHECK (status IN
    ('queued', 'running', 'succeeded', 'ready', 'rejected', 'failed', 'reconciliation_required')),
  phase text NOT NULL DEFAULT 'queued',
  -- The version resolved at admission, or 'base'; for learning jobs the parent.
  adapter_version text NOT NULL,
  -- The normalised request; private to the worker, and emptied of its texts when the job has ended.
  request json NOT NULL,
  pricing_version text NOT NULL,
  reserved_microusd bigint NOT NULL CHECK (reserved_microusd >= 0),
  compute_microusd bigint NOT NULL DEFAULT 0 CHECK (compute_microusd >= 0),
  storage_microusd bigint NOT NULL DEFAULT 0 CHECK (storage_microusd >= 0),
  charged_microusd bigint GENERATED ALWAYS AS (compute_microusd + storage_microusd) STORED,
  settled boolean NOT NULL DEFAULT false,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  training_tokens bigint NOT NULL DEFAULT 0,
  result json,
  error_code text,
  -- The lease: who runs the job, until when, and the token that fences out whoever held it before.
  worker_id text,
  fencing_token bigint NOT NULL DEFAULT 0,
  lease_expires_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (compute_microusd + storage_microusd <= reserved_microusd),
  CHECK (cached_input_tokens <= input_tokens),
  CHECK (settled = (status IN ('succeeded', 'ready', 'rejected', 'failed')))
);
CREATE INDEX jobs_claimable ON jobs (sequence) WHERE status IN ('queued', 'running');
-- What counts towards the monthly learning capacity before it is charged.
CREATE INDEX jobs_open_learning ON jobs (project_id) INCLUDE (reserved_microusd) WHERE kind = 'internalization' AND NOT settled;
CREATE INDEX jobs_of_namespace ON jobs (project_id, tenant_id, sequence DESC);

-- What a finished phase of a learning job left behind, so that a crash resumes at the next phase.
CREATE TABLE job_phases (
  job_id text NOT NULL REFERENCES jobs,
  phase text NOT NULL,
  outcome json NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  training_tokens bigint NOT NULL,
  finished_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (job_id, phase)
);

CREATE TABLE idempotency_keys (
  project_id text NOT NULL REFERENCES projects,
  tenant_id text,
  key text NOT NULL,
  fingerprint_sha256 bytea NOT NULL CHECK (octet_length(fingerprint_sha256) = 32),
  api_key_id text NOT NULL REFERENCES api_keys,
  -- Claimed before its job is written: who comes second waits here for the first one's outcome.
  job_id text NOT NULL REFERENCES jobs DEFERRABLE INITIALLY DEFERRED,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (project_id, tenant_id, key)
);

CREATE TABLE versions (
  id text PRIMARY KEY,
  subject_ref text NOT NULL REFERENCES subjects,
  parent_version_id text REFERENCES versions,
  source_job_id text NOT NULL UNIQUE REFERENCES jobs,
  -- `sha256:<hex>`; the name of the adapter's folder in the adapter store.
  adapter_hash text NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes > 0),
  passed_count integer NOT NULL,
  total_count integer NOT NULL,
  -- The synthetic questions and answers that taught it: rehearsed and asked again by later learning jobs.
  rehearsal json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  files_deleted_at timestamptz
);
CREATE INDEX versions_of_subject ON versions (subject_ref, created_at DESC);
ALTER TABLE subjects ADD FOREIGN KEY (active_version_id) REFERENCES versions;

-- Double entry. Every movement is one immutable transfer from one account to another; balances are derived by
-- a trigger, so that no statement can change one without the other.
CREATE TABLE accounts (
  id text PRIMARY KEY,
  -- 'available', 'reserved', 'spent' of a project; 'issued' is where credit comes from.
  kind text NOT NULL CHECK (kind IN ('issued', 'available', 'reserved', 'spent')),
  project_id text REFERENCES projects,
  balance_microusd bigint NOT NULL DEFAULT 0,
  UNIQUE NULLS NOT DISTINCT (kind, project_id),
  CHECK ((kind = 'issued') = (project_id IS NULL)),
  -- Only the source of credit may go below zero.
  CHECK (kind = 'issued' OR balance_microusd >= 0)
);
INSERT INTO accounts (id, kind, project_id) VALUES ('issued', 'issued', NULL);

CREATE TABLE transfers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('grant', 'reserve', 'post', 'void', 'hosting')),
  from_account text NOT NULL REFERENCES accounts,
  to_account text NOT NULL REFERENCES accounts,
  amount_microusd bigint NOT NULL CHECK (amount_microusd > 0),
  job_id text REFERENCES jobs,
  version_id text REFERENCES versions,
  memo text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (from_account <> to_account),
  CHECK ((kind IN ('reserve', 'post', 'void')) = (job_id IS NOT NULL))
);
-- A job is reserved once, charged at most once, and released at most once.
CREATE UNIQUE INDEX transfers_once_per_job ON transfers (job_id, kind) WHERE job_id IS NOT NULL;
-- What an account received in a month, read from the index alone.
CREATE INDEX transfers_by_account ON transfers (to_account, created_at) INCLUDE (amount_microusd);

CREATE FUNCTION apply_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Locked in one order, so that opposite transfers cannot deadlock; and no stronger than the update needs, because
  -- the foreign keys of every other transfer in flight already share both rows.
  PERFORM 1 FROM accounts WHERE id IN (NEW.from_account, NEW.to_account) ORDER BY id FOR NO KEY UPDATE;
  UPDATE accounts SET balance_microusd = balance_microusd - NEW.amount_microusd WHERE id = NEW.from_account;
  UPDATE accounts SET balance_microusd = balance_microusd + NEW.amount_microusd WHERE id = NEW.to_account;
  RETURN NEW;
END $$;
CREATE TRIGGER transfers_apply AFTER INSERT ON transfers FOR EACH ROW EXECUTE FUNCTION apply_transfer();

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;
CREATE TRIGGER transfers_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('transfers are immutable');
-- Depth 0 is a statement of a client's; the trigger above runs at depth 1.
CREATE TRIGGER balances_move_by_transfers BEFORE UPDATE OF balance_microusd ON accounts
  FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change('a balance is moved by a transfer only');
