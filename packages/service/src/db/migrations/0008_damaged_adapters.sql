-- Since when a version's adapter is known to be damaged or missing in the store. Such a version is not renewed.
ALTER TABLE versions ADD COLUMN damaged_at timestamptz;
