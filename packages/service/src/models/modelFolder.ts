import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { findWeightFiles } from '@engraft/engine';
import { findCachedModel, parseModelName, writeModelName } from '@engraft/hub';
import { readHubConfig } from '../config/hubConfig.js';

/** The model that a person's name for it stands for. */
export type FoundModel =
  | { readonly kind: 'found'; readonly folder: string }
  /** `advice` says what would help. */
  | { readonly kind: 'missing'; readonly advice: string };

/** The checkpoint folder for `DIR` or `ORG/NAME[@REVISION]`: a folder if there is one, else a pulled model. */
export async function findModelFolder(name: string, env: NodeJS.ProcessEnv = process.env): Promise<FoundModel> {
  const folder = path.resolve(name);
  if (await isFolder(folder)) return { kind: 'found', folder };
  const model = parseModelName(name);
  if (model === null) return { kind: 'missing', advice: `there is no folder ${folder}, and '${name}' is no ORG/NAME` };
  const { cacheFolder } = await readHubConfig(env);
  const cached = await findCachedModel(cacheFolder, model);
  const pull = `engraft model pull ${writeModelName(model)}`;
  if (cached === null) {
    const advice = `${name} is neither a folder nor in ${cacheFolder}: \`${pull}\` downloads it`;
    return { kind: 'missing', advice };
  }
  if (!(await hasWeights(cached.folder))) {
    return { kind: 'missing', advice: `${name} is not complete: \`${pull}\` goes on with it` };
  }
  return { kind: 'found', folder: cached.folder };
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** Weights are pulled last. */
async function hasWeights(folder: string): Promise<boolean> {
  try {
    for (const name of await findWeightFiles(folder)) await access(path.join(folder, name));
    return true;
  } catch {
    return false;
  }
}
