/**
 * The cache that Python's tools share. `models--ORG--NAME/blobs/` has the files by their hashes, `snapshots/COMMIT/`
 * links to them by their names, and `refs/` has the commit of each branch and tag.
 * https://huggingface.co/docs/huggingface_hub/guides/manage-cache
 */
import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isMissing, systemCode } from './hubError.js';
import { isCommit } from './modelName.js';

export interface ModelFolders {
  /** `ORG/NAME` */
  readonly id: string;
  readonly model: string;
  readonly blobs: string;
  readonly snapshots: string;
  readonly refs: string;
  /** Only the holder of the lock on this file changes the model's files. */
  readonly lockFile: string;
}

const prefix = 'models--';

export function modelFolders(cacheFolder: string, id: string): ModelFolders {
  const name = prefix + id.replace('/', '--');
  const model = path.join(cacheFolder, name);
  return {
    id,
    model,
    blobs: path.join(model, 'blobs'),
    snapshots: path.join(model, 'snapshots'),
    refs: path.join(model, 'refs'),
    lockFile: path.join(cacheFolder, '.locks', name, 'engraft.lock'),
  };
}

/** `ORG/NAME` of a folder in the cache. `null` for data sets, spaces, and models without an ORG. */
export function modelOfFolder(name: string): string | null {
  const [org = '', model = '', ...rest] = name.startsWith(prefix) ? name.slice(prefix.length).split('--') : [];
  return org === '' || model === '' || rest.length > 0 ? null : `${org}/${model}`;
}

/** The commit that a branch or tag stood for when it was last asked about. `null` if nothing is known. */
export async function readRef({ refs }: ModelFolders, revision: string): Promise<string | null> {
  try {
    const text = (await readFile(path.join(refs, revision), 'utf8')).trim();
    return isCommit(text) ? text : null;
  } catch (error) {
    if (isMissing(error) || ['EISDIR', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw error;
  }
}

/** Readers see the whole change at once, so that nobody finds half a commit. */
export async function writeRef(folders: ModelFolders, revision: string, commit: string): Promise<void> {
  if (isCommit(revision) || (await readRef(folders, revision)) === commit) return;
  const file = path.join(folders.refs, revision);
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  await writeFile(temporary, commit);
  await rename(temporary, file);
}

/** Gives a blob its name in a snapshot, by a relative link, so that the cache can be moved. */
export async function linkBlob(blob: string, file: string): Promise<void> {
  if (await exists(file)) return;
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await symlink(path.relative(path.dirname(file), blob), file);
  } catch (error) {
    const code = systemCode(error);
    // Another tool was faster.
    if (code === 'EEXIST') return;
    if (code !== 'EPERM') throw error;
    // Windows lets few people make symbolic links.
    await link(blob, file);
  }
}

/** Also true for a link that leads nowhere. */
async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}
