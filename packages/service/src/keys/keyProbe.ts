import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { isUsable } from './authenticate.js';

/** Whether a key with this secret is valid at the moment. Also `false` if too many ask. */
export type KeyProbe = (secretSha256: Buffer) => Promise<boolean>;

export interface KeyProbeOptions {
  readonly everyMs?: number;
  readonly maxWaiting?: number;
}

interface Round {
  readonly asked: Buffer[];
  readonly usable: Promise<ReadonlySet<string>>;
}

/**
 * Sends one query after the other, each for all keys that were asked about since the last. So the cost does not depend
 * on how many ask.
 */
export function createKeyProbe(db: Kysely<Database>, options: KeyProbeOptions = {}): KeyProbe {
  const { everyMs = 50, maxWaiting = 1_000 } = options;
  let next: Round | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const startRound = (): Round => {
    const asked: Buffer[] = [];
    const usable = Promise.all([sleep(everyMs), last]).then(() => {
      next = null;
      return findUsable(db, asked);
    });
    last = usable.catch(() => undefined);
    return { asked, usable };
  };

  return async (secretSha256) => {
    next ??= startRound();
    if (next.asked.length >= maxWaiting) return false;
    next.asked.push(secretSha256);
    return (await next.usable).has(secretSha256.toString('base64'));
  };
}

async function findUsable(db: Kysely<Database>, hashes: readonly Buffer[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('api_keys')
    .select('secret_sha256')
    .where('secret_sha256', 'in', hashes)
    .where(isUsable)
    .execute();
  return new Set(rows.map(({ secret_sha256 }) => secret_sha256.toString('base64')));
}
