// `npm run quickstart -- --model …`: another model than the shipped one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './steps.mjs';

const engraft = join(root, 'packages/service/bin/engraft.js');
const usage = 'npm run quickstart [-- --model ORG/NAME|FOLDER|FILE.gguf]';

/** The model that `--model` names; `null` without it. Ends the process on wrong usage. */
export function readModelOption(args) {
  try {
    return parseArgs({ args, options: { model: { type: 'string' } } }).values.model ?? null;
  } catch (error) {
    console.error(`\n  ✗ ${error.message}\n    ${usage}`);
    process.exit(2);
  }
}

/**
 * The name that `engraft serve --model` takes for it: a folder as it is; a GGUF file is imported into the data folder,
 * and anything else is pulled by its name, unless that was done before. `null`: it failed, and has said why.
 */
export function prepareModel(model, data_folder) {
  const file = resolve(process.env.INIT_CWD ?? process.cwd(), model);
  if (/\.gguf$/i.test(model)) {
    const folder = resolve(root, data_folder, 'models', basename(file).replace(/\.gguf$/i, ''));
    return existsSync(folder) || run('import', file, '--out', folder) ? folder : null;
  }
  if (existsSync(file)) return file;
  return run('pull', model) ? model : null;
}

function run(...args) {
  return spawnSync(process.execPath, [engraft, 'model', ...args], { cwd: root, stdio: 'inherit' }).status === 0;
}
