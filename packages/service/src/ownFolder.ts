import { makeSyncedFolder } from '@engraft/engine/synced-folders';
import { crashPoint } from './crashPoints.js';

/** Makes a folder, for its owner alone, and missing ones above it. All of them survive a power cut. */
export async function makeOwnFolder(folder: string): Promise<void> {
  await makeSyncedFolder(folder, { mode: 0o700, onMade: () => crashPoint('folder.made') });
}
