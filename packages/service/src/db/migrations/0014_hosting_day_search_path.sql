-- As 0006 does for the functions before it: a temporary table named like one of ours must not be taken for it.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION name_hosting_day() SET search_path = %I, pg_temp', current_schema());
END $$;
