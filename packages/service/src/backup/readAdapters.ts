import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { adapterFiles, isAdapterIntact, type AdapterReference } from '@engraft/engine';
import type { Transaction } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { nameOfAdapterFile } from './format.js';
import { tarFile } from './tar.js';

export interface NeededAdapter {
  readonly adapter_hash: string;
  readonly size_bytes: number;
}

/**
 * The adapters that versions of the snapshot still have files of. Nothing needs any others. Adapters of erased versions
 * are left out, even while their files wait for the next round of retention.
 * @param columns the columns of `versions`; an older schema may have fewer
 */
export async function findNeededAdapters(
  trx: Transaction<Database>,
  columns: readonly string[],
): Promise<NeededAdapter[]> {
  return trx
    .selectFrom('versions')
    .select('adapter_hash')
    .select(({ fn }) => fn.max('size_bytes').as('size_bytes'))
    .where('files_deleted_at', 'is', null)
    .$if(columns.includes('erased_at'), (query) => query.where('erased_at', 'is', null))
    .groupBy('adapter_hash')
    .orderBy('adapter_hash')
    .execute();
}

type ArchivedAdapter = AsyncGenerator<Uint8Array, Record<string, string> | null>;

/** An adapter as files of the archive; returns their SHA-256, or `null` where the store does not have it whole. */
export async function* readAdapter(
  store: AdapterStore,
  adapterHash: string,
  onBytes: (bytes: number) => void,
): ArchivedAdapter {
  const { adapter, giveBack } = await store.borrow(adapterHash);
  try {
    return yield* readFiles(adapter, onBytes);
  } finally {
    giveBack();
  }
}

async function* readFiles(adapter: AdapterReference, onBytes: (bytes: number) => void): ArchivedAdapter {
  if (!(await isAdapterIntact(adapter))) return null;
  const files = await openAll(adapter.folder);
  if (files === null) return null;
  try {
    const sums: Record<string, string> = {};
    for (const { name, handle } of files) {
      const hash = createHash('sha256');
      const content = watched(handle, (bytes) => {
        hash.update(bytes);
        onBytes(bytes.byteLength);
      });
      yield* tarFile(nameOfAdapterFile(adapter.contentHash, name), (await handle.stat()).size, content);
      sums[name] = hash.digest('hex');
    }
    return sums;
  } finally {
    for (const { handle } of files) await handle.close();
  }
}

interface OpenFile {
  readonly name: string;
  readonly handle: FileHandle;
}

/**
 * Opens all of them before the first is read, so that files deleted meanwhile can still be read. `null` if one is gone.
 */
async function openAll(folder: string): Promise<OpenFile[] | null> {
  const files: OpenFile[] = [];
  try {
    for (const name of adapterFiles) files.push({ name, handle: await open(path.join(folder, name)) });
    return files;
  } catch (error) {
    for (const { handle } of files) await handle.close();
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function* watched(handle: FileHandle, onPiece: (bytes: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  const pieces = handle.createReadStream({ autoClose: false, highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>;
  for await (const piece of pieces) {
    onPiece(piece);
    yield piece;
  }
}
