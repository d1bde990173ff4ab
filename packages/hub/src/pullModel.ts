import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { linkBlob, modelFolders, readRef, writeRef, type ModelFolders } from './cacheLayout.js';
import { downloadBlob, partialBytes } from './downloadBlob.js';
import { defaultPatience, HubClient, type Patience } from './hubClient.js';
import { cacheError, HubError, isMissing } from './hubError.js';
import { listModel, type Listing, type RemoteFile } from './listing.js';
import { writeModelName, type ModelName } from './modelName.js';
import { withModelLock, type WaitOptions } from './modelLock.js';
import { removeEmptyFolders, removeSnapshot } from './removeModel.js';
import type { HubSettings } from './settings.js';

/** Which files come next, in the order in which they are to be there, or why none do. */
export type NextFiles =
  { readonly kind: 'files'; readonly paths: readonly string[] } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Chooses among the paths of the listing when the files of earlier stages are in `folder` under their names. What the
 * listing does not have is left out.
 */
export type PullStage = (folder: string, listing: readonly RemoteFile[]) => Promise<NextFiles>;

export interface PullProgress {
  /** The file under way. */
  readonly path: string;
  /** Bytes of this stage's files. */
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface PullOptions extends WaitOptions {
  readonly settings: HubSettings;
  readonly name: ModelName;
  /** The stages in order: small files that may refuse the model come before large ones. */
  readonly stages: readonly PullStage[];
  readonly patience?: Partial<Patience>;
  readonly onProgress?: (progress: PullProgress) => void;
}

export type PullOutcome =
  | {
      readonly kind: 'pulled';
      readonly commit: string;
      /** The snapshot: a checkpoint folder. */
      readonly folder: string;
      /** Size of the chosen files. */
      readonly sizeBytes: number;
      /** The part of it that was not in the cache yet. */
      readonly downloadedBytes: number;
    }
  /** A stage refused the model. What it had brought into the cache is gone again. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Downloads the chosen files of a model into the cache, and verifies each by the hub's hash. Files that are there
 * already are not requested again, and interrupted ones go on. Others who pull the same model wait.
 */
export async function pullModel(options: PullOptions): Promise<PullOutcome> {
  const { settings, name, signal } = options;
  if (settings.offline) {
    throw new HubError('unreachable', 'HF_HUB_OFFLINE forbids to ask a hub: unset it to pull a model');
  }
  const client = new HubClient(settings, name);
  const patience = { ...defaultPatience, ...options.patience };
  const asked = { endpoint: settings.endpoint, patience, ...(signal === undefined ? {} : { signal }) };
  const listing = await listModel(client, name, asked);
  const folders = modelFolders(settings.cacheFolder, name.id);
  try {
    return await withModelLock(folders, options, () => new Pull(options, client, patience, folders, listing).run());
  } catch (error) {
    throw cacheError(error, settings.cacheFolder);
  }
}

class Pull {
  private downloadedBytes = 0;
  private readonly chosen = new Set<RemoteFile>();
  private readonly snapshot: string;

  constructor(
    private readonly options: PullOptions,
    private readonly client: HubClient,
    private readonly patience: Patience,
    private readonly folders: ModelFolders,
    private readonly listing: Listing,
  ) {
    this.snapshot = path.join(folders.snapshots, listing.commit);
  }

  async run(): Promise<PullOutcome> {
    const { name, stages } = this.options;
    const { commit, files } = this.listing;
    const isNew = (await sizeOf(this.snapshot)) === null;
    for (const stage of stages) {
      const next = await stage(this.snapshot, files);
      if (next.kind === 'refused') {
        // Others may have pulled it for themselves.
        if (isNew) await removeSnapshot(this.folders, commit);
        await removeEmptyFolders(this.folders);
        return next;
      }
      // The name is written at once, so that an interrupted pull has a name. A name already in use keeps its old commit
      // until all files are there.
      if ((await readRef(this.folders, name.revision)) === null) await writeRef(this.folders, name.revision, commit);
      const paths = [...new Set(next.paths)];
      await this.fetchAll(paths.flatMap((wanted) => files.find((file) => file.path === wanted) ?? []));
    }
    await writeRef(this.folders, name.revision, commit);
    const sizeBytes = [...this.chosen].reduce((sum, file) => sum + file.sizeBytes, 0);
    return { kind: 'pulled', commit, folder: this.snapshot, sizeBytes, downloadedBytes: this.downloadedBytes };
  }

  private async fetchAll(files: readonly RemoteFile[]): Promise<void> {
    for (const file of files) this.chosen.add(file);
    const missing: RemoteFile[] = [];
    for (const file of files) if ((await sizeOf(this.blobOf(file))) !== file.sizeBytes) missing.push(file);
    await this.requireRoom(missing);
    const totalBytes = missing.reduce((sum, file) => sum + file.sizeBytes, 0);
    let doneBefore = 0;
    for (const file of files) {
      if (!missing.includes(file)) {
        await this.link(file);
        continue;
      }
      await this.fetch(file, (bytes) => {
        this.options.onProgress?.({ path: file.path, doneBytes: doneBefore + bytes, totalBytes });
      });
      doneBefore += file.sizeBytes;
    }
  }

  private async fetch(file: RemoteFile, onBytes: (bytes: number) => void): Promise<void> {
    const { settings, name, signal } = this.options;
    const { commit } = this.listing;
    const place = [name.id, 'resolve', commit, ...file.path.split('/').map(encodeURIComponent)].join('/');
    const blob = this.blobOf(file);
    const before = await partialBytes(blob);
    await downloadBlob(this.client, {
      url: `${settings.endpoint}/${place}`,
      file,
      commit,
      blob,
      patience: this.patience,
      onBytes,
      ...(signal === undefined ? {} : { signal }),
    });
    this.downloadedBytes += Math.max(0, file.sizeBytes - before);
    await this.link(file);
  }

  private link(file: RemoteFile): Promise<void> {
    return linkBlob(this.blobOf(file), path.join(this.snapshot, ...file.path.split('/')));
  }

  private blobOf({ hash }: RemoteFile): string {
    return path.join(this.folders.blobs, hash.digest);
  }

  /** Checks for room before an hour's download rather than at its end. */
  private async requireRoom(missing: readonly RemoteFile[]): Promise<void> {
    let needed = 0;
    for (const file of missing) needed += file.sizeBytes - (await partialBytes(this.blobOf(file)));
    const { cacheFolder } = this.options.settings;
    const { bavail, bsize } = await statfs(cacheFolder);
    if (needed <= bavail * bsize) return;
    throw new HubError(
      'storage_full',
      `${writeModelName(this.options.name)} takes ${needed} bytes more, and ${cacheFolder} has room for ` +
        `${bavail * bsize}: make room, or name another folder in HF_HUB_CACHE`,
    );
  }
}

/** `null` where there is nothing. */
async function sizeOf(file: string): Promise<number | null> {
  return stat(file).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    },
  );
}
