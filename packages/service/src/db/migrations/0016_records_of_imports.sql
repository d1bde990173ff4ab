-- An import records its adapters before it has jobs for them, so that they are found if it is killed. The key becomes an
-- index in which NULL equals NULL.
ALTER TABLE kept_adapters DROP CONSTRAINT kept_adapters_pkey;
ALTER TABLE kept_adapters ALTER COLUMN job_id DROP NOT NULL;
CREATE UNIQUE INDEX kept_adapters_once ON kept_adapters (adapter_hash, job_id) NULLS NOT DISTINCT;
