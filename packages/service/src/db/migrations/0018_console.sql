-- Accounts of the web console. No credential of the console opens the API, and no API key the console.
CREATE TABLE members (
  id text PRIMARY KEY,
  -- In lower case.
  email text NOT NULL UNIQUE CHECK (email = lower(email)),
  -- `scrypt$…`, see console/password.ts.
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE member_roles (
  member_id text NOT NULL REFERENCES members,
  -- NULL: every project, also those that are still to come.
  project_id text REFERENCES projects,
  role text NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  UNIQUE NULLS NOT DISTINCT (member_id, project_id)
);

-- A link sets up an account or resets a password, once. Secrets have 256 random bits, so a fast hash is enough.
CREATE TABLE console_links (
  token_sha256 bytea PRIMARY KEY CHECK (octet_length(token_sha256) = 32),
  -- NULL: whoever opens the link chooses one.
  email text CHECK (email = lower(email)),
  -- The role that comes with it; NULL: none, the link resets a password.
  role text CHECK (role IN ('owner', 'developer', 'viewer')),
  project_id text REFERENCES projects,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

CREATE TABLE console_sessions (
  token_sha256 bytea PRIMARY KEY CHECK (octet_length(token_sha256) = 32),
  member_id text NOT NULL REFERENCES members,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_of_member ON console_sessions (member_id);

-- Who sent a job from the console.
CREATE INDEX audit_events_of_target ON audit_events (target);
-- The entries of a project, newest first.
CREATE INDEX transfers_from_account ON transfers (from_account, id);
CREATE INDEX transfers_to_account ON transfers (to_account, id);
