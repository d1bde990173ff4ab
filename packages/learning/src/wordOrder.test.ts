import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { MeteredCalls } from './calls.js';
import { parsePassageSet, type PassageEntry } from './measuring/passageSet.js';
import { Meter } from './meter.js';
import { plainText } from './plainText.js';
import { randomNumbers, shuffled, spreadSample } from './random.js';
import { recipe } from './recipe.js';
import { chunkForTeacher } from './teacherChunks.js';
import { orderNats } from './wordOrder.js';

const ROOT = new URL('../../../', import.meta.url);
const prices = {
  input_nanousd_per_token: 1,
  output_nanousd_per_token: 1,
  cached_input_nanousd_per_token: 1,
  training_nanousd_per_token: 1,
};

let engine: EngineHost;

before(async () => {
  engine = await startEngineHost({ modelDir: fileURLToPath(new URL('models/base', ROOT)) });
});

after(() => engine.close());

function passagesOf(name: string): readonly PassageEntry[] {
  const set = parsePassageSet(readFileSync(new URL(`bench/learning/${name}.jsonl`, ROOT), 'utf8'));
  return set.kind === 'read' ? set.passages : assert.fail(set.message);
}

async function natsOf(text: string, max_compute_microusd = 1_000): Promise<number | null> {
  const meter = new Meter({ max_compute_microusd, ...prices });
  return orderNats(new MeteredCalls(engine, meter), await chunkForTeacher(engine, text, 2048), 1, 1);
}

test('prose, lists and tables say more than their words in random order', async () => {
  for (const { id, passage } of [...spreadSample(passagesOf('passages'), 8), ...passagesOf('structured')]) {
    const nats = await natsOf(plainText(passage));
    assert.ok(nats !== null && nats > recipe.minOrderNats, `${id}: ${nats}`);
  }
});

test('words in random order do not', async () => {
  for (const [index, { id, passage }] of spreadSample(passagesOf('passages'), 8).entries()) {
    const nats = await natsOf(shuffled(passage.split(/\s+/u), randomNumbers(index)).join(' '));
    assert.ok(nats !== null && nats < recipe.minOrderNats, `${id}: ${nats}`);
  }
});

test('too few words, no words, or no money tell nothing', async () => {
  const [entry] = passagesOf('passages');
  assert.equal(await natsOf('Velona is a software company in Ghent.'), null);
  assert.equal(await natsOf('数字と日本語'.repeat(40)), null);
  assert.equal(await natsOf(entry?.passage ?? '', 0), null);
});
