import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { projectionName } from '../model/weights.js';
import { tinyConfig } from '../testing/fixtures.js';
import { isPattern, loraModules, type LoraHyperparameters } from './loraModules.js';

const plain: LoraHyperparameters = { rank: 4, alpha: 6 };

/** `[name, rank, scale]` of every module. */
function modules(changes: Partial<LoraHyperparameters>): (readonly [string, number, number])[] {
  return loraModules(tinyConfig, { ...plain, ...changes }).map(({ layer, projection, rank, scale }) => [
    projectionName(layer, projection).replace('model.layers.', ''),
    rank,
    scale,
  ]);
}

void test('without restrictions every projection of every layer is adapted', () => {
  const all = modules({});
  assert.equal(all.length, 14);
  assert.ok(all.every(([, rank, scale]) => rank === 4 && scale === 1.5));
});

void test('targets are ends of names, and layers do not restrict a whole name', () => {
  const names = (changes: Partial<LoraHyperparameters>) => modules(changes).map(([name]) => name);
  assert.deepEqual(names({ targets: ['mlp.up_proj'] }), ['0.mlp.up_proj', '1.mlp.up_proj']);
  assert.deepEqual(names({ targets: ['mlp.up_proj'], layers: [1] }), ['1.mlp.up_proj']);
  const whole = { targets: ['k_proj', 'model.layers.0.mlp.up_proj'], layers: [1] };
  assert.deepEqual(names(whole), ['0.mlp.up_proj', '1.self_attn.k_proj']);
  assert.equal(names({ layers: [0] }).length, 7);
});

void test('the first pattern that matches gives the rank and alpha, and rsLoRA divides by the root', () => {
  const rankPattern = new Map([
    ['layers.1.self_attn.q_proj', 16],
    ['q_proj', 9],
    ['1.self_attn.q_proj', 2],
  ]);
  const alphaPattern = new Map([['^model.layers.0.self_attn.v_proj', 8]]);
  const patterns = { targets: ['q_proj', 'v_proj'], rankPattern, alphaPattern };
  assert.deepEqual(modules(patterns), [
    ['0.self_attn.q_proj', 9, 6 / 9],
    ['0.self_attn.v_proj', 4, 2],
    ['1.self_attn.q_proj', 16, 6 / 16],
    ['1.self_attn.v_proj', 4, 1.5],
  ]);
  const [first] = modules({ ...patterns, rsLora: true });
  assert.deepEqual(first, ['0.self_attn.q_proj', 9, 2]);
});

void test('a module that the model does not have is refused by its field', () => {
  const refuses = (changes: Partial<LoraHyperparameters>, message: RegExp): void => {
    assert.throws(() => modules(changes), { name: 'EngineError', code: 'adapter_invalid', message });
  };
  refuses(
    { targets: ['q_proj', 'lm_head'] },
    /target_modules names "lm_head", but the model has only q_proj, .* in layers 0 to 1$/,
  );
  refuses({ targets: ['proj'] }, /target_modules names "proj"/);
  refuses({ targets: ['model.layers.2.mlp.up_proj'] }, /target_modules/);
  refuses({ layers: [0, 2] }, /layers_to_transform names layer 2, but the model has layers 0 to 1$/);
  refuses({ targets: ['layers.0.mlp.up_proj'], layers: [1] }, /target_modules names no projection in the layers/);
});

void test('patterns that could take for ever are none', () => {
  for (const text of ['q_proj', '^model.layers.0.self_attn.q_proj', String.raw`layers\.1\.mlp.up_proj`]) {
    assert.ok(isPattern(text), text);
  }
  for (const text of ['', '(a+)+$', '.*', 'a|b', '[0-9]', 'a{1,9}', 'a\nb', '\\d', 'q_proj$'])
    assert.ok(!isPattern(text), text);
});

void test('patterns match as the regular expressions that PEFT makes of them, the first of many', () => {
  const part = fc.constantFrom('layers', '0', '1', 'mlp', 'self_attn', 'q_proj', 'up_proj', 'model', 'q', '_proj', 'p');
  const dot = fc.constantFrom('.', '\\.', '');
  const pattern = fc
    .tuple(
      fc.constantFrom('', '^', '^model.layers.', '.', '\\.'),
      fc.array(fc.tuple(part, dot), { maxLength: 4 }),
      part,
    )
    .map(([start, middle, last]) => `${start}${middle.flat().join('')}${last}`);
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { minLength: 1, maxLength: 12 }), (patterns) => {
      assert.ok(patterns.every(isPattern));
      const rankPattern = new Map(patterns.map((text, index) => [text, index + 5]));
      const expected = loraModules(tinyConfig, plain).map(({ layer, projection }) => {
        const name = projectionName(layer, projection);
        const first = patterns.findIndex((text) => new RegExp(`^(?:.*\\.)?(?:${text})$`).test(name));
        return first === -1 ? plain.rank : first + 5;
      });
      assert.deepEqual(
        modules({ rankPattern }).map(([, rank]) => rank),
        expected,
      );
    }),
    { numRuns: 2000 },
  );
});
