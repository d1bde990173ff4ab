import path from 'node:path';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Database } from '../db/schema.js';
import { readArchiveFile } from './archiveFile.js';
import { type ArchivedSum, listArchives, readArchivedSums, type RecordedArchive } from './listArchives.js';

export interface ArchiveReport {
  readonly ok: boolean;
  readonly files: number;
  readonly jobs: number;
  /** One sentence each. Empty when `ok`. */
  readonly differences: readonly string[];
}

/** The part of a line that is added up. */
const archivedJob = z.object({
  kind: z.enum(['inference', 'internalization']),
  transfers: z.array(
    z.object({
      kind: z.string(),
      from_account: z.string(),
      to_account: z.string(),
      amount_microusd: z.int(),
      created_at: z.string(),
    }),
  ),
});

/**
 * Compares every file of archived jobs with what the database has recorded of it, and the sums of all their transfers
 * with the sums that the ledger goes on with. The sums are compared if each file is whole, and nothing was archived
 * meanwhile.
 */
export async function verifyArchives(db: Kysely<Database>, folder: string): Promise<ArchiveReport> {
  const archives = await listArchives(db);
  const sums = new Sums();
  const differences: string[] = [];
  for (const archive of archives) {
    const difference = await differenceOf(archive, folder, sums);
    if (difference !== null) differences.push(`${archive.file} ${difference}`);
  }
  if (differences.length === 0) {
    const recorded = await readArchivedSums(db);
    const { length } = await listArchives(db);
    if (length === archives.length) differences.push(...sums.compareWith(recorded));
  }
  const jobs = archives.reduce((sum, archive) => sum + archive.jobs, 0);
  return { ok: differences.length === 0, files: archives.length, jobs, differences };
}

/** `null` if the file is as it was written. Adds up its transfers. */
async function differenceOf(archive: RecordedArchive, folder: string, sums: Sums): Promise<string | null> {
  const counted = { jobs: 0, transfers: 0, amount_microusd: 0 };
  const lines = readArchiveFile(path.join(folder, archive.file));
  try {
    for (;;) {
      const next = await lines.next();
      if (next.done === true) {
        const { size_bytes, sha256 } = next.value;
        if (size_bytes === archive.size_bytes && sha256.toString('hex') === archive.sha256) break;
        return 'has other bytes than were written';
      }
      const job = archivedJob.parse(JSON.parse(next.value));
      counted.jobs += 1;
      counted.transfers += job.transfers.length;
      for (const transfer of job.transfers) {
        counted.amount_microusd += transfer.amount_microusd;
        sums.add(transfer, job.kind === 'internalization' && transfer.kind === 'post');
      }
    }
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  const { jobs, transfers, amount_microusd } = archive;
  const isRecorded =
    counted.jobs === jobs && counted.transfers === transfers && counted.amount_microusd === amount_microusd;
  if (isRecorded) return null;
  return `has ${describe(counted)}; ${describe(archive)} are recorded`;
}

function describe(counts: Pick<RecordedArchive, 'jobs' | 'transfers' | 'amount_microusd'>): string {
  return `${counts.jobs} jobs and ${counts.transfers} transfers of ${counts.amount_microusd} micro-USD`;
}

type Transfer = z.output<typeof archivedJob>['transfers'][number];

/** The sums of each account in each month. */
class Sums {
  readonly #sums = new Map<string, { received: number; sent: number; learning: number }>();

  add({ from_account, to_account, amount_microusd, created_at }: Transfer, isLearning: boolean): void {
    const month = created_at.slice(0, 7);
    const [from, to] = [this.#of(from_account, month), this.#of(to_account, month)];
    from.sent += amount_microusd;
    to.received += amount_microusd;
    if (isLearning) to.learning += amount_microusd;
  }

  /** A sentence for each account and month in which the other sums differ. */
  compareWith(recorded: readonly ArchivedSum[]): string[] {
    const left = new Map(this.#sums);
    const differences = recorded.flatMap(({ account_id, month, ...sums }) => {
      const key = keyOf(account_id, month);
      const { received, sent, learning } = left.get(key) ?? nothing;
      left.delete(key);
      const isSame =
        received === sums.received_microusd && sent === sums.sent_microusd && learning === sums.learning_microusd;
      return isSame
        ? []
        : [
            `account ${account_id} received ${sums.received_microusd} and sent ${sums.sent_microusd} micro-USD in ` +
              `${month}, ${sums.learning_microusd} for learning; the files have ${received}, ${sent} and ${learning}`,
          ];
    });
    return [...differences, ...[...left.keys()].map((key) => `${key} is in the files, and no sum has it`)];
  }

  #of(account: string, month: string) {
    const key = keyOf(account, month);
    const found = this.#sums.get(key) ?? { ...nothing };
    this.#sums.set(key, found);
    return found;
  }
}

const nothing = { received: 0, sent: 0, learning: 0 } as const;

function keyOf(account: string, month: string): string {
  return `account ${account} in ${month}`;
}
