// The sets of passages below bench/learning.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePassageSet } from '../../packages/evaluation/dist/index.js';
import { root } from './measure.mjs';

/** @throws naming the line and the field that is wrong. */
export function readPassages(name) {
  const file = join(root, `bench/learning/${name}.jsonl`);
  const set = parsePassageSet(readFileSync(file, 'utf8'));
  if (set.kind === 'read') return set.passages;
  throw new Error(`${file}, line ${set.line}, ${set.field}: ${set.message}`);
}
