-- The strongest lock on jobs that this needs comes first: workers of the release before may be at work.
DROP INDEX jobs_claimable;

-- When each project's work was last begun: whose turn it is next.
CREATE TABLE project_turns (
  project_id text NOT NULL REFERENCES projects,
  kind text NOT NULL CHECK (kind IN ('inference', 'internalization')),
  claimed_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, kind)
);
-- Every project's oldest waiting jobs of a kind, without reading anybody's backlog; and those that run, which are few.
CREATE INDEX jobs_queued ON jobs (kind, project_id, sequence) WHERE status = 'queued';
CREATE INDEX jobs_running ON jobs (kind, lease_expires_at) WHERE status = 'running';
