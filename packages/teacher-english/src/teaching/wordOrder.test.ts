import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import {
  chunkForTeacher,
  Meter,
  MeteredCalls,
  plainText,
  randomNumbers,
  readPassage,
  shuffled,
} from '@engraft/learning/parts';
import { readBenchPassages } from '@engraft/learning/testing/passages.js';
import { baseRecipe as recipe } from '@engraft/learning/testing/recipe.js';
import { spreadSample } from '@engraft/learning';
import { rules } from '../rules.js';
import { orderNats } from './wordOrder.js';

const root = new URL('../../../../', import.meta.url);
const prices = {
  input_nanousd_per_token: 1,
  output_nanousd_per_token: 1,
  cached_input_nanousd_per_token: 1,
  training_nanousd_per_token: 1,
};

let engine: EngineHost;

before(async () => {
  engine = await startEngineHost({ modelDir: fileURLToPath(new URL('models/base', root)) });
});

after(() => engine.close());

async function natsOf(
  text: string,
  maxComputeMicrousd = 1_000,
  told: ReadonlyMap<string, unknown> = new Map(),
): Promise<number | null> {
  const meter = new Meter({ max_compute_microusd: maxComputeMicrousd, ...prices });
  const chunks = await chunkForTeacher(engine, text, 2048, recipe);
  return orderNats(new MeteredCalls(engine, meter), chunks, recipe.prompts, 1, told);
}

test('prose says more than its words in random order', async () => {
  for (const { id, passage } of [
    ...spreadSample(await readBenchPassages('passages.jsonl'), 8),
    ...(await readBenchPassages('handbooks.jsonl')),
  ]) {
    const nats = await natsOf(plainText(passage));
    assert.ok(nats !== null && nats > rules.minOrderNats, `${id}: ${nats}`);
  }
});

test('words in random order do not', async () => {
  for (const [index, { id, passage }] of spreadSample(await readBenchPassages('passages.jsonl'), 8).entries()) {
    const nats = await natsOf(shuffled(passage.split(/\s+/u), randomNumbers(index)).join(' '));
    assert.ok(nats !== null && nats < rules.minOrderNats, `${id}: ${nats}`);
  }
});

test('what is no prose is not judged', async () => {
  for (const text of [
    'Menu of the Blue Thimble: tomato soup 5.50, leek tart 8.20, trout with almonds 14.90, plum cake 4.10, coffee 2.60, tea 2.40, cider 3.80, lemonade 3.10, bread 1.20, olives 3.30, salad 6.40, cheese 7.70.',
    'Spare parts for the Tarn 3: gasket TX-104, pump TX-220, boiler TX-301, steam wand TX-330, drip tray TX-402, portafilter TX-415, hopper TX-500, burr set TX-512, fuse TX-600, power cord TX-610.',
    'Reception 555-0101, kitchen 555-0102, garage 555-0103, laundry 555-0104, gym 555-0105, pool 555-0106, bar 555-0107, spa 555-0108, office 555-0109, porter 555-0110.',
    'name,price,colour\nTarn 3,249,red\nTarn 4,299,blue\nOrlo 1,99,green\nOrlo 2,129,black\nVarn 7,349,white\nKell 2,19,grey\nMora 5,59,pink\nHale 1,79,cyan\nBerg 4,89,brown\nLind 9,109,gold',
  ]) {
    assert.equal(await natsOf(text), null, text);
  }
});

test('the short items of a changelog are no prose, and neither are sentences that were made of a table', async () => {
  const items = [
    'Export to CSV for the whole team',
    'A dark theme for the editor',
    'The limit of an upload is 40 MB',
    'Search in the comments of a page',
    'No more than one reminder for a task',
    'The import of old notes is gone',
  ];
  const changelog = `# Changelog\n\n## 2.1.0\n\n${items.map((item) => `- ${item}\n`).join('')}`;
  assert.equal(await natsOf(plainText(changelog)), null);
  assert.equal(await natsOf(items.join('\n')), null);
  assert.notEqual(await natsOf(items.join(' and ')), null, 'in one line they would be judged');
  const row = (name: string): string => `${name},with the window open in the day,to the left of the door in the hall`;
  const { text, told } = readPassage(`Name,Mode of operation,Place of delivery\n${row('Tarn')}\n${row('Orlo')}`);
  assert.equal(await natsOf(text, 1_000, told), null);
  assert.notEqual(await natsOf(text), null);
});

test('too few words, no words, or no money tell nothing', async () => {
  const [entry] = await readBenchPassages('passages.jsonl');
  assert.equal(await natsOf('Velona is a software company in Ghent.'), null);
  assert.equal(await natsOf('数字と日本語'.repeat(40)), null);
  assert.equal(await natsOf(entry?.passage ?? '', 0), null);
});
