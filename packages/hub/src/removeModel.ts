import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { modelFolders, type ModelFolders } from './cacheLayout.js';
import { filesOf, findCachedModel, listRevisions, readRefs } from './cachedModels.js';
import { cacheError } from './hubError.js';
import { withModelLock, type WaitOptions } from './modelLock.js';
import type { ModelName } from './modelName.js';

export type Removal =
  | {
      readonly kind: 'removed';
      readonly commit: string;
      readonly freedBytes: number;
      /** Size of the files that stay because other revisions share them. */
      readonly sharedBytes: number;
      /** The commits of the model's other revisions, which stay. */
      readonly otherCommits: readonly string[];
    }
  /** There is nothing to remove. `commits` are the existing ones. */
  | { readonly kind: 'missing'; readonly commits: readonly string[] };

/** Removes one revision of a model from the cache. Waits for anybody who pulls the model. */
export async function removeModel(cacheFolder: string, name: ModelName, options: WaitOptions): Promise<Removal> {
  const folders = modelFolders(cacheFolder, name.id);
  const commits = async (): Promise<readonly string[]> => (await listRevisions(folders)).map(({ commit }) => commit);
  try {
    // No folder is made for the lock of a missing model.
    if ((await findCachedModel(cacheFolder, name)) === null) return { kind: 'missing', commits: await commits() };
    return await withModelLock(folders, options, async (): Promise<Removal> => {
      const found = await findCachedModel(cacheFolder, name);
      if (found === null) return { kind: 'missing', commits: await commits() };
      const { freedBytes, sharedBytes } = await removeSnapshot(folders, found.commit);
      const otherCommits = await commits();
      const restBytes = otherCommits.length === 0 ? await removeRest(folders) : 0;
      return { kind: 'removed', commit: found.commit, freedBytes: freedBytes + restBytes, sharedBytes, otherCommits };
    });
  } catch (error) {
    throw cacheError(error, cacheFolder);
  }
}

/** Removes a snapshot, its names, and those of its files that no other one has. The caller has the model's lock. */
export async function removeSnapshot(
  folders: ModelFolders,
  commit: string,
): Promise<{ readonly freedBytes: number; readonly sharedBytes: number }> {
  const snapshot = path.join(folders.snapshots, commit);
  const own = await filesOf(snapshot);
  const kept = new Set<string>();
  for (const other of await listRevisions(folders)) {
    if (other.commit !== commit) for (const file of (await filesOf(other.folder)).keys()) kept.add(file);
  }
  for (const ref of await readRefs(folders)) {
    if (ref.commit === commit) await rm(path.join(folders.refs, ref.name), { force: true });
  }
  await rm(snapshot, { recursive: true, force: true });
  let [freedBytes, sharedBytes] = [0, 0];
  for (const [file, bytes] of own) {
    if (kept.has(file)) sharedBytes += bytes;
    else freedBytes += bytes;
    // Removes nothing outside the model's own folder, wherever a link leads.
    if (!kept.has(file) && path.dirname(file) === folders.blobs) await rm(file, { force: true });
  }
  return { freedBytes, sharedBytes };
}

/** Removes the folders of a model without revisions, unless another tool is about to give it one. */
export async function removeEmptyFolders({ model, blobs, snapshots, refs }: ModelFolders): Promise<void> {
  for (const folder of [blobs, snapshots, refs, model]) await rmdir(folder).catch(() => undefined);
}

/** Interrupted downloads, and anything else that belongs to no revision. */
async function removeRest({ model, blobs }: ModelFolders): Promise<number> {
  const rest = await filesOf(blobs);
  await rm(model, { recursive: true, force: true });
  return [...rest.values()].reduce((sum, bytes) => sum + bytes, 0);
}
