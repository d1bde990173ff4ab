import assert from 'node:assert/strict';
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { freshMatrices, toAdapter } from '../lora/parameters.js';
import { temporaryFolder, tinyConfig } from '../testing/fixtures.js';
import { writeAdapter } from './adapterFolder.js';
import { readTrainedOn } from './trainedOn.js';

const lora = { rank: 2, alpha: 3 };
const adapter = toAdapter(freshMatrices(tinyConfig, 2, 1), lora);
const checkpoint = `sha256:${'c'.repeat(64)}`;

test('an adapter says which checkpoint it was trained on, as long as it is whole', async (t) => {
  const reference = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, checkpoint);
  assert.deepEqual(await readTrainedOn(reference), { kind: 'known', contentHash: checkpoint });
  await appendFile(path.join(reference.folder, 'adapter_model.safetensors'), '\n');
  assert.deepEqual(await readTrainedOn(reference), { kind: 'damaged' });
});

test('one of another tool names a repository, or nothing', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [at, name] of ['org/name', 'sha256:c', null].entries()) {
    const reference = await writeAdapter(path.join(folder, String(at)), adapter, name);
    assert.deepEqual(await readTrainedOn(reference), { kind: 'not_said' }, String(name));
  }
});

test('what is gone, or no adapter, is damaged', async (t) => {
  const reference = await writeAdapter(path.join(await temporaryFolder(t), 'adapter'), adapter, checkpoint);
  await appendFile(path.join(reference.folder, 'adapter_config.json'), '}');
  assert.deepEqual(await readTrainedOn(reference), { kind: 'damaged' });
  await rm(reference.folder, { recursive: true });
  assert.deepEqual(await readTrainedOn(reference), { kind: 'damaged' });
});
