-- What operators changed, who they were and why: a row for each command, written in the transaction of its change. No
-- secret and no text of a caller's is in it.
CREATE TABLE audit_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  -- `key.create`, `job.resolve` and the like.
  action text NOT NULL CHECK (action ~ '^[a-z]+[.][a-z]+$'),
  -- Who, as they name themselves; and the account of the operating system under which it was done, as `user@host`.
  actor text NOT NULL,
  account text NOT NULL,
  reason text,
  -- NULL: of no project.
  project_id text REFERENCES projects,
  -- What was changed, by its id; of a tenant, its name.
  target text NOT NULL,
  details json NOT NULL
);
CREATE INDEX audit_events_of_project ON audit_events (project_id, id);

CREATE TRIGGER audit_events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('audit events are never changed');
