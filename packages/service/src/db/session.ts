import pg from 'pg';

/** A host that takes connections and says nothing is no database. */
const connection_timeout_ms = 10_000;

/**
 * Runs `work` in a session of its own, outside any pool. Its end gives back whatever the session still held: locks, and
 * a transaction that was not committed.
 */
export async function withSession<Result>(
  url: string,
  application_name: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    application_name,
    connectionTimeoutMillis: connection_timeout_ms,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
