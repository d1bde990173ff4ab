-- The checkpoint that the workers of this database have loaded, by its content hash. No row: no worker has loaded one
-- since this table exists.
CREATE TABLE base_model (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  content_hash text NOT NULL,
  loaded_since timestamptz NOT NULL DEFAULT now()
);
-- The checkpoint that a version was trained on, and is of no use without. NULL: from before this was recorded, until a
-- worker has read it in the files of the adapter.
ALTER TABLE versions ADD COLUMN base_model_hash text;
CREATE INDEX versions_of_unknown_model ON versions (adapter_hash)
  WHERE base_model_hash IS NULL AND files_deleted_at IS NULL;
-- The checkpoint that a learning job was begun on: what it has stored so far is of no use on another. NULL: not begun.
ALTER TABLE jobs ADD COLUMN base_model_hash text;
