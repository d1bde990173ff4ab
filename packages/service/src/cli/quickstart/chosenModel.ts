import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { CommandFailure } from '../withDatabase.js';
import { runCommand } from './ownProgram.js';

/**
 * Makes of the model that a person names a value for `engraft serve --model`. A folder stays as it is. A GGUF file is
 * imported into the data folder, and anything else is pulled by its name, unless that was done before.
 */
export async function prepareModel(model: string, dataFolder: string, signal: AbortSignal): Promise<string> {
  if (/\.gguf$/i.test(model)) {
    const folder = importFolderOf(model, dataFolder);
    const imported = ['model', 'import', path.resolve(model), '--out', folder];
    if (existsSync(folder) || (await runCommand(imported, signal))) return folder;
  } else {
    if (existsSync(model)) return path.resolve(model);
    if (await runCommand(['model', 'pull', model], signal)) return model;
  }
  throw new CommandFailure(`${model} cannot be used: the lines above say why, and docs/models.md what can be`);
}

/** Another file of the same name, or one that was replaced, has another folder. */
export function importFolderOf(model: string, dataFolder: string): string {
  const file = path.resolve(model);
  // A file that is not there is refused by the import, which says so.
  const found = statSync(file, { throwIfNoEntry: false });
  const identity = JSON.stringify([file, found?.size, found?.mtimeMs]);
  const shortHash = createHash('sha256').update(identity).digest('hex').slice(0, 12);
  return path.join(dataFolder, 'models', `${path.basename(file).replace(/\.gguf$/i, '')}-${shortHash}`);
}
