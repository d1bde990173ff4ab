-- What a clock that was wrong has done can be undone. In the order of locks in which the service takes them.

-- Who ended a version's retention: an operator, for good; or a round of retention, whose end is taken back when it
-- turns out to lie in the future, because a clock that was ahead has written it. NULL, as the release before leaves it,
-- counts as for good.
ALTER TABLE versions
  ADD COLUMN retention_ended_by text CHECK (retention_ended_by IN ('operator', 'retention')),
  ADD CONSTRAINT versions_ended_by_somebody
    CHECK (retention_ended_by IS NULL OR retention_ended_at IS NOT NULL) NOT VALID;
-- A round ends what is past its deadline; an operator's end is a deadline of its own.
UPDATE versions SET retention_ended_by = 'retention' WHERE retention_ended_at > expires_at;
CREATE INDEX versions_by_end ON versions (retention_ended_at) WHERE retention_ended_at IS NOT NULL;

-- Which day of the version's hosting a transfer pays: whole days from the version's creation to the beginning of that
-- day. NULL for those made before there was this column. No day is paid twice.
ALTER TABLE transfers
  ADD COLUMN hosting_day integer,
  ADD CONSTRAINT transfers_name_the_day_they_host
    CHECK ((kind = 'hosting' AND version_id IS NOT NULL) = (hosting_day IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX transfers_once_per_hosting_day ON transfers (version_id, hosting_day) WHERE hosting_day IS NOT NULL;

-- The release before names no day: it pays the one that begins at the deadline.
CREATE FUNCTION name_hosting_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.hosting_day := (
    SELECT floor(extract(epoch FROM expires_at - created_at) / 86400) FROM versions WHERE id = NEW.version_id
  );
  RETURN NEW;
END $$;
CREATE TRIGGER transfers_name_their_hosting_day BEFORE INSERT ON transfers
  FOR EACH ROW WHEN (NEW.kind = 'hosting' AND NEW.hosting_day IS NULL) EXECUTE FUNCTION name_hosting_day();

-- One row: how far the database's clock had come when somebody looked last. Files are deleted by this time, not by the
-- present one.
CREATE TABLE clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  seen_at timestamptz NOT NULL,
  -- When it was last found more than a day ahead of what had been seen before: the service was stopped, or the clock
  -- was set.
  leapt_at timestamptz
);
INSERT INTO clock (seen_at) VALUES (now());
