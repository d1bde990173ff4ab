import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { defaultRecipe, settledRecipe } from './defaults.js';
import { defaultPreset, loadPreset, recipeOf, type Preset } from './preset.js';
import type { Recipe, TrainingRecipe } from './recipe.js';

const shippedSchema = z.looseObject({
  fits: z.looseObject({ model_type: z.string(), hidden_size: z.int() }),
  source: z.string(),
});

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
  assert.deepEqual(preset, defaultPreset);
  assert.deepEqual(recipeOf(preset, 5e8), defaultRecipe(5e8));
});

test('the shipped model is taught by the rules of English and by itself', async () => {
  const base = fileURLToPath(new URL('../../../../models/base', import.meta.url));
  assert.equal((await loadPreset(base)).teacher, 'both');
});

test('what is given takes the place of the default, and nothing else does', async () => {
  const preset = await presetOf({
    teacher: 'model',
    teaching_adapter: 'teacher',
    prompts: 'plain',
    training: { rank: 16, first_layer: 4, opening_tokens: 6, peak_rate: 5e-4, exposures_per_fact: 30 },
  });
  assert.equal(preset.teachingAdapter, join(folder, 'teacher'));
  const usual = defaultRecipe(5e8);
  assert.deepEqual(recipeOf(preset, 5e8), {
    ...usual,
    training: {
      ...usual.training,
      rank: 16,
      firstLayer: 4,
      openingTokens: 6,
      peakRate: 5e-4,
      exposuresPerFact: 30,
    },
  });
});

test('sentences as answers need room, a training that nothing stops, and rows that keep other questions apart', () => {
  const usual = defaultRecipe(135e6);
  const training = { answersWith: 'sentences', peakRate: 1e-3 } as const;
  assert.deepEqual(recipeOf({ ...defaultPreset, training }, 135e6), {
    ...usual,
    split: { ...usual.split, maxDevPairs: 0 },
    training: { ...usual.training, ...training, wholeSentenceEvery: 3, maxExposuresPerFact: 150 },
    replay: {
      ...usual.replay,
      exactRowsPerBatch: 1,
      beginningRowsPerBatch: 4,
      beginningTokens: 12,
      unknownRowsPerBatch: 1,
    },
    evaluating: { ...usual.evaluating, maxAnswerTokens: 96 },
  });
  const patient = recipeOf({ ...defaultPreset, training: { ...training, maxExposuresPerFact: 40 } }, 135e6);
  assert.equal(patient.training.maxExposuresPerFact, 40);
});

test('where answers are either, a passage that was not asked about well is answered with whole sentences', () => {
  const usual = defaultRecipe(6e6);
  const either = recipeOf({ ...defaultPreset, training: { answersWith: 'values', sentencesIfAskedPoorly: true } }, 6e6);
  assert.deepEqual(either, {
    ...usual,
    training: { ...usual.training, sentencesIfAskedPoorly: true },
    evaluating: { ...usual.evaluating, maxAnswerTokens: 96 },
  });
  assert.equal(settledRecipe(either, true), either);
  assert.equal(settledRecipe(usual, false), usual);
  assert.deepEqual(settledRecipe(either, false), {
    ...either,
    split: { ...usual.split, maxDevPairs: 0 },
    training: { ...either.training, answersWith: 'sentences', openingTokens: 8, maxExposuresPerFact: 150 },
    replay: { ...either.replay, rehearsedPerPassage: 2, maxRehearsalPerBatch: 12 },
  });
});

test('such a passage changes the layers from sentences_first_layer on, never lower ones than others do', () => {
  const either = (layers: Partial<TrainingRecipe>): Recipe =>
    recipeOf({ ...defaultPreset, training: { sentencesIfAskedPoorly: true, ...layers } }, 6e6);
  for (const [layers, values, sentences] of [
    [{}, 0, 0],
    [{ sentencesFirstLayer: 2 }, 0, 2],
    [{ firstLayer: 1 }, 1, 1],
    [{ firstLayer: 3, sentencesFirstLayer: 2 }, 3, 3],
  ] as const) {
    assert.equal(settledRecipe(either(layers), true).training.firstLayer, values);
    assert.equal(settledRecipe(either(layers), false).training.firstLayer, sentences);
  }
});

test('a preset says which answers a version gives', async () => {
  const checkpoint = join(folder, 'answers');
  await mkdir(checkpoint);
  for (const [kind, training] of [
    ['values', { answersWith: 'values', sentencesIfAskedPoorly: false }],
    ['sentences', { answersWith: 'sentences', sentencesIfAskedPoorly: false }],
    ['either', { answersWith: 'values', sentencesIfAskedPoorly: true }],
  ] as const) {
    await writeFile(
      join(checkpoint, 'learning.json'),
      JSON.stringify({ teacher: 'both', training: { answers_with: kind } }),
    );
    assert.deepEqual((await loadPreset(checkpoint)).training, training);
  }
});

test('a shipped preset is for the checkpoints that it fits, unless they bring one along', async () => {
  const [shipped, checkpoint] = [join(folder, 'shipped'), join(folder, 'checkpoint')];
  await mkdir(join(shipped, 'small'), { recursive: true });
  await mkdir(checkpoint);
  const fits = {
    model_type: 'llama',
    hidden_size: 576,
    num_hidden_layers: 30,
    vocab_size: 49152,
    max_position_embeddings: 8192,
  };
  const preset = { fits, teacher: 'model', teaching_adapter: 'teacher' };
  await writeFile(join(shipped, 'small', 'learning.json'), JSON.stringify(preset));
  const configured = async (config: object): Promise<Preset> => {
    await writeFile(join(checkpoint, 'config.json'), JSON.stringify(config));
    return loadPreset(checkpoint, shipped);
  };
  await writeFile(join(shipped, 'README.md'), 'no preset');
  const found = await configured({ ...fits, rope_theta: 100_000 });
  assert.equal(found.teachingAdapter, join(shipped, 'small', 'teacher'));
  assert.equal(found.folder, join(shipped, 'small'));
  for (const field of Object.keys(fits)) {
    assert.equal(
      (await configured({ ...fits, [field]: 7 })).teachingAdapter,
      null,
      `another ${field} is another model`,
    );
  }
  await configured(fits);
  assert.deepEqual(await loadPreset(checkpoint, join(folder, 'none shipped')), defaultPreset);
  await writeFile(join(checkpoint, 'learning.json'), '{"teacher": "english"}');
  assert.equal((await loadPreset(checkpoint, shipped)).teacher, 'english');
});

test('each shipped preset fits one shape, says where its numbers are from, and computed rates are what they say', async () => {
  const presets = fileURLToPath(new URL('../../../../models/presets', import.meta.url));
  const shapes = new Set<string>();
  const checkpoint = join(folder, 'shaped');
  await mkdir(checkpoint);
  for (const name of await readdir(presets)) {
    const { fits, source } = shippedSchema.parse(
      JSON.parse(await readFile(join(presets, name, 'learning.json'), 'utf8')),
    );
    shapes.add(JSON.stringify(fits));
    await writeFile(join(checkpoint, 'config.json'), JSON.stringify(fits));
    const { training } = await loadPreset(checkpoint, presets);
    if (source.includes('measured:')) continue;
    const exponent = fits.model_type === 'llama' ? 0.781 : 0.0775;
    assert.ok(source.includes(`5e-4 * (2000 / ${fits.hidden_size}) ** ${exponent}`), name);
    const rate = 5e-4 * (2000 / fits.hidden_size) ** exponent;
    assert.ok(Math.abs((training.peakRate ?? 0) / rate - 1) < 0.01, name);
  }
  assert.equal(shapes.size, (await readdir(presets)).length);
});

test('what is wrong is named by file and field, with what is allowed', async () => {
  for (const [content, message] of [
    ['{"teacher":', /learning\.json: must be a JSON object with fits, source, teacher, teaching_adapter/],
    [{}, /learning\.json: teacher: .*"english"\|"model"/],
    [{ teacher: 'latin' }, /teacher: .*"english"\|"model"/],
    [
      { teacher: 'english', colour: 'red' },
      /has no field "colour"; there are fits, source, teacher, teaching_adapter, prompts, training/,
    ],
    [{ teacher: 'english', teaching_adapter: 'x' }, /teaching_adapter: is for the teachers "model" and "both" only/],
    [
      { teacher: 'english', training: { questions_per_sentence: 8 } },
      /training\.questions_per_sentence: is for the teachers "model" and "both" only/,
    ],
    [{ teacher: 'model', teaching_adapter: '../x' }, /teaching_adapter: must be the name of a folder beside/],
    [
      { teacher: 'model', training: { answers_with: 'either' } },
      /training\.answers_with: "either" is for the teacher "both" only/,
    ],
    [{ teacher: 'english', prompts: 'loud' }, /prompts: .*"plain"/],
    [{ teacher: 'english', training: 8 }, /training: must be a JSON object with answers_with, rank/],
    [{ teacher: 'english', training: { rank: 0 } }, /training\.rank: .*>0/],
    [
      { teacher: 'english', training: { speed: 1 } },
      /training: has no field "speed"; there are answers_with, rank, alpha, first_layer, sentences_first_layer, questions_per_sentence, opening_tokens, peak_rate/,
    ],
  ] as const) {
    await assert.rejects(presetOf(content), message);
  }
});

test('the layers that are trained must be layers of the model', async () => {
  const checkpoint = join(folder, 'layers');
  await mkdir(checkpoint);
  await writeFile(join(checkpoint, 'config.json'), JSON.stringify({ num_hidden_layers: 3 }));
  const load = async (training: object): Promise<Preset> => {
    await writeFile(join(checkpoint, 'learning.json'), JSON.stringify({ teacher: 'both', training }));
    return loadPreset(checkpoint);
  };
  for (const field of ['first_layer', 'sentences_first_layer']) {
    await load({ [field]: 2 });
    const message = `learning\\.json: training\\.${field}: must be from 0 to 2, since the model has 3 layers`;
    await assert.rejects(load({ [field]: 3 }), new RegExp(message, 'u'));
  }
});
