import { access } from 'node:fs/promises';
import path from 'node:path';
import {
  adapterFiles,
  EngineError,
  findWeightFiles,
  loadFittingTokenizer,
  optionalFiles,
  outlineCheckpoint,
  requiredFiles,
  shardIndexFile,
  singleWeightsFile,
  type WeightFormat,
} from '@engraft/engine';
import type { NextFiles, PullStage } from '@engraft/hub';
import { loadPreset, loadReplay, presetFile, replayFile } from '@engraft/learning';

/**
 * The files of a checkpoint in the order in which they can refuse it. First comes `config.json`, which says whether the
 * engine knows the architecture and has the memory; then the small files, which say whether the model can converse and
 * how it learns; then the weights and a teaching adapter. Files that nobody reads are not pulled.
 */
export function checkpointStages(format: WeightFormat): readonly PullStage[] {
  return [
    (_, listing) => {
      const names = new Set(listing.map((file) => file.path));
      const missing = requiredFiles.filter((name) => !names.has(name));
      if (missing.length > 0) return refused(`it has no ${missing.join(' and no ')}`);
      if (!names.has(singleWeightsFile) && !names.has(shardIndexFile)) {
        return refused(`it has no ${singleWeightsFile}, nor shards of it: weights of other formats are not read`);
      }
      return files(['config.json']);
    },
    (folder, listing) =>
      unlessRefused(async () => {
        await outlineCheckpoint(folder, format);
        const isSingle = listing.some((file) => file.path === singleWeightsFile);
        return [...requiredFiles, ...optionalFiles, presetFile, replayFile, ...(isSingle ? [] : [shardIndexFile])];
      }),
    (folder, listing) =>
      unlessRefused(async () => {
        await loadFittingTokenizer(folder);
        const weights = await findWeightFiles(folder);
        const adapter = await listAdapterFiles(folder);
        await loadReplay(folder);
        const names = new Set(listing.map((file) => file.path));
        const missing = [...weights, ...adapter].filter((name) => !names.has(name));
        if (missing.length > 0) throw new Error(`it names ${missing.join(', ')}, which it does not have`);
        return [...adapter, ...weights];
      }),
  ];
}

/** Whether a folder holds everything needed to serve it, and whether it can be served. */
export type ModelState =
  | { readonly kind: 'servable' }
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  | { readonly kind: 'unservable'; readonly reason: string };

/** Looks at the small files, and whether there are weights. */
export async function examineModel(folder: string, format: WeightFormat): Promise<ModelState> {
  const missing: string[] = [];
  const note = async (names: readonly string[]): Promise<void> => {
    for (const name of names) if (!(await isThere(path.join(folder, name)))) missing.push(name);
  };
  try {
    await note(requiredFiles);
    await note(await findWeightFiles(folder));
    await note(await listAdapterFiles(folder));
    if (missing.length > 0) return { kind: 'incomplete', missing };
    await outlineCheckpoint(folder, format);
    await loadFittingTokenizer(folder);
    await loadReplay(folder);
    return { kind: 'servable' };
  } catch (error) {
    return { kind: 'unservable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The files of the adapter that `learning.json` names, with the name of its folder. */
async function listAdapterFiles(folder: string): Promise<readonly string[]> {
  const { teachingAdapter } = await loadPreset(folder);
  if (teachingAdapter === null) return [];
  return adapterFiles.map((name) => `${path.relative(folder, teachingAdapter)}/${name}`);
}

async function unlessRefused(choose: () => Promise<readonly string[]>): Promise<NextFiles> {
  try {
    return await files(await choose());
  } catch (error) {
    // System errors say nothing about the model.
    if (!(error instanceof EngineError) && error instanceof Error && 'code' in error) throw error;
    return refused(error instanceof Error ? error.message : String(error));
  }
}

function files(paths: readonly string[]): Promise<NextFiles> {
  return Promise.resolve({ kind: 'files', paths });
}

function refused(reason: string): Promise<NextFiles> {
  return Promise.resolve({ kind: 'refused', reason });
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
