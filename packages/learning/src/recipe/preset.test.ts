import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultRecipe } from './defaults.js';
import { loadPreset, recipeOf, type Preset } from './preset.js';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'preset-'));
});
after(() => rm(folder, { recursive: true }));

async function presetOf(content: string | object): Promise<Preset> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await writeFile(join(folder, 'learning.json'), text);
  return loadPreset(folder);
}

test('a checkpoint that says nothing has the default recipe', async () => {
  const preset = await loadPreset(folder);
  assert.deepEqual(preset, { teacher: 'english', teachingAdapter: null, prompts: 'plain', training: {} });
  assert.deepEqual(recipeOf(preset, 5e8), defaultRecipe(5e8));
});

test('the shipped model is taught by the rules of English', async () => {
  const base = fileURLToPath(new URL('../../../../models/base', import.meta.url));
  assert.deepEqual(await loadPreset(base), await loadPreset(join(folder, 'nothing')));
});

test('what is given takes the place of the default, and nothing else does', async () => {
  const preset = await presetOf({
    teacher: 'model',
    teaching_adapter: 'teacher',
    prompts: 'plain',
    training: { rank: 16, peak_rate: 5e-4, exposures_per_fact: 30 },
  });
  assert.equal(preset.teachingAdapter, join(folder, 'teacher'));
  const usual = defaultRecipe(5e8);
  assert.deepEqual(recipeOf(preset, 5e8), {
    ...usual,
    training: { ...usual.training, rank: 16, peakRate: 5e-4, exposuresPerFact: 30 },
  });
});

test('what is wrong is named by file and field, with what is allowed', async () => {
  for (const [content, message] of [
    ['{"teacher":', /learning\.json: must be a JSON object with teacher, teaching_adapter/],
    [{}, /learning\.json: teacher: .*"english"\|"model"/],
    [{ teacher: 'latin' }, /teacher: .*"english"\|"model"/],
    [
      { teacher: 'english', colour: 'red' },
      /has no field "colour"; there are teacher, teaching_adapter, prompts, training/,
    ],
    [{ teacher: 'english', teaching_adapter: 'x' }, /teaching_adapter: is for the teacher "model" only/],
    [{ teacher: 'model', teaching_adapter: '../x' }, /teaching_adapter: must be the name of a folder beside/],
    [{ teacher: 'english', prompts: 'loud' }, /prompts: .*"plain"/],
    [{ teacher: 'english', training: 8 }, /training: must be a JSON object with rank/],
    [{ teacher: 'english', training: { rank: 0 } }, /training\.rank: .*>0/],
    [
      { teacher: 'english', training: { speed: 1 } },
      /training: has no field "speed"; there are rank, alpha, peak_rate/,
    ],
  ] as const) {
    await assert.rejects(presetOf(content), message);
  }
});
