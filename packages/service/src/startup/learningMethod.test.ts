import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadReplay } from '@engraft/learning';
import { z } from 'zod';
import { readLearningFiles, shippedPresets } from './learningMethod.js';

const folder = await mkdtemp(join(tmpdir(), 'engraft-learning-files-'));
after(() => rm(folder, { recursive: true }));

const preset = join(shippedPresets, 'smollm2-135m-instruct');

test('a checkpoint rehearses its own rows, or else those of the shipped preset that fits it', async () => {
  const shipped = await loadReplay(preset);
  assert.ok(shipped.length > 100);
  const { fits } = z
    .looseObject({ fits: z.looseObject({}) })
    .parse(JSON.parse(await readFile(join(preset, 'learning.json'), 'utf8')));
  await writeFile(join(folder, 'config.json'), JSON.stringify(fits));
  const files = await readLearningFiles(folder);
  assert.deepEqual(files.replay, shipped);
  assert.equal(files.adapter?.folder, join(preset, 'teacher'));

  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Good day.' },
  ];
  await writeFile(join(folder, 'replay.jsonl'), `${JSON.stringify({ messages })}\n`);
  assert.deepEqual((await readLearningFiles(folder)).replay, [{ messages }]);
});

test('a checkpoint that no preset fits has no rows but its own', async () => {
  await writeFile(join(folder, 'config.json'), '{}');
  await writeFile(join(folder, 'replay.jsonl'), '');
  assert.deepEqual((await readLearningFiles(folder)).replay, []);
});
