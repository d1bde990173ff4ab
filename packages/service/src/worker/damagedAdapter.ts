import path from 'node:path';
import { EngineError, type AdapterReference } from '@engraft/engine';
import { AdapterStoreMissing } from '../adapterStore/adapterStoreMissing.js';
import { AdapterStoreUnavailable } from '../adapterStore/adapterStoreUnavailable.js';
import { markAdapterDamaged, unmarkIfIntact } from '../versions/adapterDamage.js';
import type { UsableAdapter } from './findAdapter.js';
import type { JobContext } from './jobContext.js';

export function isAdapterDamaged(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'adapter_damaged';
}

/**
 * Marks the versions of an adapter that cannot be loaded, and logs what to do, whenever that is news.
 * @throws AdapterStoreMissing if all adapters are gone, which says nothing about this one
 */
export async function noteDamage(
  { db, store, logger, onAdapterDamaged }: JobContext,
  versionId: string,
  { contentHash, folder }: AdapterReference,
): Promise<void> {
  if (!(await store.isPresent())) throw new AdapterStoreMissing(`the adapters in ${store.home} are not there`);
  if (!(await markAdapterDamaged(db, contentHash))) return;
  onAdapterDamaged?.();
  // A copy of it on this machine is not what to mend.
  const place = path.dirname(folder) === store.home ? { folder } : {};
  logger.error(
    { version_id: versionId, adapter_hash: contentHash, store: store.home, ...place },
    'the adapter of a version is damaged or missing: its jobs fail with adapter_damaged and its hosting is not renewed; ' +
      'put its files back into the store from a backup, or learn its passages again',
  );
}

/**
 * Unmarks versions whose adapter is whole again. An adapter that the engine has in memory may still be damaged on the
 * disk.
 */
export async function clearMark(
  { db, store }: JobContext,
  { adapter, marked_damaged }: UsableAdapter,
  signal: AbortSignal,
): Promise<void> {
  if (adapter === null || !marked_damaged) return;
  await unmarkIfIntact(db, store, adapter.contentHash, signal).catch((error: unknown) => {
    // The work done with it is not lost for that: the mark stays.
    if (error instanceof AdapterStoreUnavailable || signal.aborted) return;
    throw error;
  });
}

/**
 * The adapter that learning starts from, or base if the files of the parent are damaged or missing. The parent's
 * passages are rehearsed in any case.
 */
export async function intactParent(
  context: JobContext,
  versionId: string,
  found: UsableAdapter,
  signal: AbortSignal,
): Promise<AdapterReference | null> {
  const { adapter } = found;
  if (adapter === null || (await context.store.isIntact(adapter.contentHash, signal))) {
    await clearMark(context, found, signal);
    return adapter;
  }
  await noteDamage(context, versionId, adapter);
  context.logger.warn(
    { version_id: versionId },
    'a passage is learned from base, as the adapter of its parent is damaged',
  );
  return null;
}
