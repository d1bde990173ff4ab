// Going on with a bench that takes hours: what was measured alike is taken over from its file.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine } from './measure.mjs';

/**
 * Equal for runs that belong together.
 * @param {unknown} plan what was asked for
 * @param {string[]} sources folders of TypeScript, of which the tests do not count
 * @param {string[]} files those that are missing count as such
 */
export function fingerprint(plan, sources, files) {
  const code = sources.map((source) => {
    const names = readdirSync(source, { recursive: true }).filter((name) => /(?<!\.test)\.ts$/.test(name));
    return names.sort().map((name) => [name, readFileSync(join(source, name), 'utf8')]);
  });
  const contents = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : null));
  return createHash('sha256')
    .update(JSON.stringify([plan, code, contents]))
    .digest('hex');
}

/**
 * The runs that a file of results has, none if there is no file.
 * @throws when the file was measured with anything else; `advice` is what to do then.
 */
export function earlierRuns(file, measured, advice = 'run without --resume') {
  if (!existsSync(file)) return [];
  const earlier = JSON.parse(readFileSync(file, 'utf8'));
  if (earlier.measured === measured) return earlier.runs;
  throw new Error(`${file} was measured with other passages, model, cap or code; ${advice}`);
}

/**
 * Runs in a file that is whole at any time: those that it has, and those that are added.
 * @param {object} facts what else the file is to say
 * @throws when the file was measured with anything else
 */
export function keepRuns(file, measured, facts) {
  const runs = earlierRuns(file, measured, '--anew begins from nothing');
  const add = (run) => {
    runs.push(run);
    writeFileSync(`${file}.tmp`, JSON.stringify({ machine: machine(), measured, ...facts, runs }));
    renameSync(`${file}.tmp`, file);
  };
  return { runs, add };
}
