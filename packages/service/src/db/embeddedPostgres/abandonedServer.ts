import { Socket } from 'node:net';
import pg from 'pg';
import { advisoryLocks } from '../advisoryLocks.js';
import { ownConnection } from './ownConnection.js';

/** How often in a row nobody was found to use the server before it is stopped. */
const looks = 4;

/**
 * Lets the server stop itself when nobody has used it for so long: a user that was killed leaves nobody behind who
 * would. The server looks after it in a session of its own, which goes on when the process that began it is gone; there
 * is one at most. Where the server's account has no shell (Windows), it runs on until the next user is the last one.
 */
export function stopWhenAbandoned(url: string, abandoned_after_ms: number): void {
  const client = new pg.Client({
    connectionString: ownConnection(url, 'engraft-abandoned-server'),
    // Keeps no process from ending.
    stream: () => new Socket().unref(),
  });
  client.on('error', () => undefined);
  const watch = async (): Promise<void> => {
    await client.connect();
    await client.query(watching(abandoned_after_ms / looks / 1_000));
    await client.end();
  };
  // It ends with the server, or has nothing to do.
  watch().catch(() => undefined);
}

/**
 * Commits before it waits, so that it holds back no vacuum. The lock that it takes last keeps users away who would come
 * just before the stop, as in `closeSession`. No SQL function stops a server, so a signal does.
 */
function watching(pause_seconds: number): string {
  return `DO $$
    DECLARE
      unused integer := 0;
    BEGIN
      IF NOT pg_try_advisory_lock(${advisoryLocks.watcher}) THEN RETURN; END IF;
      LOOP
        COMMIT;
        PERFORM pg_sleep(${pause_seconds});
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
