import { Socket } from 'node:net';
import pg from 'pg';
import { advisoryLocks } from '../advisoryLocks.js';
import { ownConnection } from './ownConnection.js';

/** How many looks in a row must find no user before the server is stopped. */
const looks = 4;

/**
 * Lets the server stop itself after a time without users, since a killed user leaves nobody behind to stop it. The
 * server watches in a session of its own, which outlives the process that began it. There is one such session at most.
 * If the server's account has no shell (Windows), the server runs on until its next user is the last one.
 */
export function stopWhenAbandoned(url: string, abandonedAfterMs: number): void {
  const client = new pg.Client({
    connectionString: ownConnection(url, 'engraft-abandoned-server'),
    // Must not keep the process alive.
    stream: () => new Socket().unref(),
  });
  client.on('error', () => undefined);
  const watch = async (): Promise<void> => {
    await client.connect();
    await client.query(watching(abandonedAfterMs / looks / 1_000));
    await client.end();
  };
  // It ends with the server, or has nothing to do.
  watch().catch(() => undefined);
}

/**
 * Commits before it waits, so that it does not hold back vacuum. Its last lock keeps out users who would come just
 * before the stop, as in `closeSession`. No SQL function stops a server, so it sends a signal.
 */
function watching(pauseSeconds: number): string {
  return `DO $$
    DECLARE
      unused integer := 0;
    BEGIN
      IF NOT pg_try_advisory_lock(${advisoryLocks.watcher}) THEN RETURN; END IF;
      LOOP
        COMMIT;
        PERFORM pg_sleep(${pauseSeconds});
        IF NOT pg_try_advisory_lock(${advisoryLocks.users}) THEN
          unused := 0;
          CONTINUE;
        END IF;
        unused := unused + 1;
        IF unused = ${looks} THEN
          EXECUTE format('COPY (SELECT 1 WHERE false) TO PROGRAM %L',
            'kill -INT ' || split_part(pg_read_file('postmaster.pid'), E'\\n', 1));
          PERFORM pg_sleep(60);
        END IF;
        PERFORM pg_advisory_unlock(${advisoryLocks.users});
      END LOOP;
    END $$`;
}
