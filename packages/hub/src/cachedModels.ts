import { readdir, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { modelFolders, modelOfFolder, readRef, type ModelFolders } from './cacheLayout.js';
import { systemCode } from './hubError.js';
import { isCommit, type ModelName } from './modelName.js';

/** One revision of a model in the cache, which may be incomplete. */
export interface CachedModel {
  /** `ORG/NAME` */
  readonly id: string;
  readonly commit: string;
  /** The branches and tags that stood for the commit when they were last asked about. */
  readonly refs: readonly string[];
  /** The snapshot: a checkpoint folder. */
  readonly folder: string;
  /** Size of its files, including those that other revisions share. */
  readonly sizeBytes: number;
}

/** Every revision of every model, in the order of their names. Empty if there is no cache. */
export async function listCachedModels(cacheFolder: string): Promise<readonly CachedModel[]> {
  const ids = (await namesIn(cacheFolder)).map(modelOfFolder).filter((id) => id !== null);
  return (await Promise.all(ids.map((id) => listRevisions(modelFolders(cacheFolder, id))))).flat();
}

/** The revisions of one model. */
export async function listRevisions(folders: ModelFolders): Promise<readonly CachedModel[]> {
  const commits = (await namesIn(folders.snapshots)).filter(isCommit);
  const refs = await readRefs(folders);
  return Promise.all(
    commits.map(async (commit) => {
      const folder = path.join(folders.snapshots, commit);
      const files = await filesOf(folder);
      return {
        id: folders.id,
        commit,
        refs: refs.filter((ref) => ref.commit === commit).map(({ name }) => name),
        folder,
        sizeBytes: [...files.values()].reduce((sum, bytes) => sum + bytes, 0),
      };
    }),
  );
}

/**
 * The revision of that name, or `null` if the cache has none. The beginning of a commit, of 7 digits or more, names it
 * if no other begins like it.
 */
export async function findCachedModel(cacheFolder: string, { id, revision }: ModelName): Promise<CachedModel | null> {
  const folders = modelFolders(cacheFolder, id);
  const revisions = await listRevisions(folders);
  const named = await readRef(folders, revision);
  const beginning = /^[0-9a-f]{7,40}$/.test(revision) ? revision : null;
  const fitting = revisions.filter(({ commit }) =>
    named === null ? beginning !== null && commit.startsWith(beginning) : commit === named,
  );
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

/**
 * The files of a snapshot, or of another folder, with their sizes. Links count as the blobs that they name. Links that
 * lead nowhere are left out.
 */
export async function filesOf(folder: string): Promise<ReadonlyMap<string, number>> {
  const files = new Map<string, number>();
  for (const name of await namesIn(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const stats = await orNothing(stat(file));
    if (stats?.isFile() !== true) continue;
    const link = await readlink(file).catch(() => null);
    files.set(link === null ? file : path.resolve(path.dirname(file), link), stats.size);
  }
  return files;
}

export async function readRefs(
  folders: ModelFolders,
): Promise<readonly { readonly name: string; readonly commit: string }[]> {
  const refs: { name: string; commit: string }[] = [];
  for (const name of await namesIn(folders.refs, { recursive: true })) {
    const commit = await readRef(folders, name);
    if (commit !== null) refs.push({ name: name.split(path.sep).join('/'), commit });
  }
  return refs;
}

/** Names in the same order on every machine. Empty if there is no such folder. */
async function namesIn(folder: string, options: { readonly recursive?: boolean } = {}): Promise<readonly string[]> {
  return ((await orNothing(readdir(folder, options))) ?? []).sort();
}

async function orNothing<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return null;
    throw error;
  });
}
