import pg from 'pg';

/** A host that accepts connections and says nothing is no database. */
const connectionTimeoutMs = 10_000;

/**
 * Runs `work` in a session of its own, outside any pool. Its end releases whatever the session still held: locks, and
 * an uncommitted transaction.
 */
export async function withSession<Result>(
  url: string,
  applicationName: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectionTimeoutMs,
  });
  // A lost connection fails the query under way, or the next one. Unheard, its event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
