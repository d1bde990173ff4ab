// Rows as a service of some months would have them: settled jobs with their transfers, learned versions, and a queue in
// which every project waits. They are made inside the database, without its triggers, and the sums that triggers keep
// are added up afterwards; `engraft ledger verify` then finds that all of it agrees.

/** Three of ten jobs belong to the project that is measured. The newest twentieth waits, and is of other projects. */
const statements = ({ jobs, subjects, projects, benchProject, benchKey }) => [
  `CREATE TEMPORARY TABLE made AS SELECT n,
     CASE WHEN n % 10 < 3 AND n <= ${jobs} * 0.95 THEN '${benchProject}' ELSE 'project_' || n % ${projects} END AS project,
     'job_' || lpad(n::text, 24, '0') AS job,
     CASE WHEN n <= ${subjects} THEN 'subject_' || n END AS subject,
     CASE WHEN n > ${jobs} * 0.95 THEN 'queued' WHEN n <= ${subjects} THEN 'ready'
       WHEN n % 100 = 99 THEN 'failed' ELSE 'succeeded' END AS status,
     now() - (${jobs} - n) * interval '60 days' / ${jobs} AS at
     FROM generate_series(1, ${jobs}) AS n`,
  `INSERT INTO projects (id, name) SELECT 'project_' || n, 'project_' || n FROM generate_series(0, ${projects} - 1) AS n`,
  `INSERT INTO api_keys (id, project_id, name, secret_sha256, scopes)
     SELECT 'key_' || n, 'project_' || n, 'key', sha256(n::text::bytea), ARRAY['inference']
     FROM generate_series(0, ${projects} - 1) AS n`,
  `INSERT INTO accounts (id, kind, project_id) SELECT kind || ':' || id, kind, id
     FROM projects, unnest(ARRAY['available', 'reserved', 'spent']) AS kind WHERE id LIKE 'project!_%' ESCAPE '!'`,
  `INSERT INTO subjects (id, project_id, name, created_at, updated_at)
     SELECT subject, project, subject, at, at FROM made WHERE subject IS NOT NULL`,
  `INSERT INTO jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, status, phase, settled, adapter_version,
       request, pricing_version, reserved_microusd, compute_microusd, input_tokens, output_tokens, result, created_at,
       updated_at)
     SELECT job, project, subject, coalesce(subject, 'default'),
       CASE project WHEN '${benchProject}' THEN '${benchKey}' ELSE replace(project, 'project', 'key') END,
       CASE WHEN subject IS NULL THEN 'inference' ELSE 'internalization' END, status,
       CASE status WHEN 'queued' THEN 'queued' ELSE 'done' END, status <> 'queued', 'base', '{"kind": "inference"}', 'v',
       20, CASE status WHEN 'queued' THEN 0 WHEN 'failed' THEN 0 ELSE 12 END, 100, 40,
       CASE WHEN status <> 'queued' THEN '{"text": "An answer of some fifty characters, as they often are."}'::json END,
       at, at
     FROM made ORDER BY n`,
  `INSERT INTO versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count, rehearsal,
       created_at, expires_at)
     SELECT 'ver_' || n, subject, job, 'sha256:' || encode(sha256(n::text::bytea), 'hex'), 700000, 9, 10, '[]', at,
       now() + interval '20 hours' FROM made WHERE subject IS NOT NULL`,
  `UPDATE subjects SET active_version_id = versions.id FROM versions WHERE versions.subject_ref = subjects.id`,
  `INSERT INTO transfers (kind, from_account, to_account, amount_microusd)
     SELECT 'grant', 'issued', 'available:' || id, 1000000000 FROM projects WHERE id LIKE 'project!_%' ESCAPE '!'`,
  `INSERT INTO transfers (kind, from_account, to_account, amount_microusd, job_id, created_at)
     SELECT kind, source || ':' || project, target || ':' || project, amount, job, at FROM made, LATERAL (VALUES
       ('reserve', 'available', 'reserved', 20, true),
       ('post', 'reserved', 'spent', 12, status IN ('ready', 'succeeded')),
       ('void', 'reserved', 'available', 8, status IN ('ready', 'succeeded')),
       ('void', 'reserved', 'available', 20, status = 'failed')
     ) AS moves(kind, source, target, amount, moved) WHERE moved ORDER BY n`,
  ...sums,
];

/** The sums that triggers would have kept. */
const sums = [
  `UPDATE accounts SET balance_microusd = moved FROM (
     SELECT id, sum(amount) AS moved FROM (
       SELECT to_account AS id, amount_microusd AS amount FROM transfers
       UNION ALL SELECT from_account, -amount_microusd FROM transfers
     ) AS entries GROUP BY id) AS sums WHERE sums.id = accounts.id`,
  `DELETE FROM monthly_spending`,
  `INSERT INTO monthly_spending (project_id, month, spent_microusd, learning_microusd)
     SELECT project_id, date_trunc('month', transfers.created_at AT TIME ZONE 'utc')::date, sum(amount_microusd),
       coalesce(sum(amount_microusd) FILTER (WHERE jobs.kind = 'internalization'), 0)
     FROM transfers JOIN jobs ON jobs.id = job_id WHERE transfers.kind = 'post' GROUP BY 1, 2`,
  `DELETE FROM open_jobs`,
  `INSERT INTO open_jobs SELECT project_id, count(*) FROM jobs WHERE status = 'queued' GROUP BY 1`,
  `DELETE FROM open_jobs_of_service`,
  `INSERT INTO open_jobs_of_service (slot, jobs) SELECT 0, coalesce(sum(jobs), 0) FROM open_jobs`,
  `DELETE FROM project_turns`,
  `INSERT INTO project_turns (project_id, kind, claimed_at, queued, first_sequence)
     SELECT project_id, kind, now() - interval '1 hour' * random(), count(*), min(sequence)
     FROM jobs WHERE status = 'queued' GROUP BY 1, 2`,
];

/** @param {import('pg').Client} client of the owner of the tables */
export async function loadRows(client, size) {
  await client.query('SET session_replication_role = replica');
  for (const statement of statements(size)) await client.query(statement);
  await client.query('VACUUM (ANALYZE)');
}
