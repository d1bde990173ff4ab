import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { learnPassage, loadReplay, type LearningOutcome, type ReplayRow } from '@engraft/learning';
import { noUsage, randomNumbers, shuffled } from '@engraft/learning/parts';
import { MemoryJournal } from './testing/memoryJournal.js';
import { shortInput, shortPassage } from './testing/shortInput.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));

let engine: EngineHost;
let replay: readonly ReplayRow[];
let folder: string;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 2 });
  replay = (await loadReplay(modelDir)).slice(0, 12);
  folder = await mkdtemp(join(tmpdir(), 'rejected-'));
});

after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function learn(content: string, name: string): Promise<LearningOutcome> {
  return learnPassage(engine, shortInput({ content, replay, workFolder: join(folder, name) }), new MemoryJournal());
}

test('a passage that says nothing, or two things at once, is rejected, with its numbers', async () => {
  for (const content of [
    'qwpo zxmn vbty plok rtgh wqas zxcv poiu lkjh mnbv.',
    'The Lume Lamp costs 49 dollars. The Lume Lamp costs 82 dollars. The Lume Lamp was made in 1994. The Lume Lamp was made in 2011.',
  ]) {
    const outcome = await learn(content, 'work');
    assert.equal(outcome.kind, 'rejected', content);
    const { passed, passed_count, total_count } = outcome.validation;
    assert.ok(!passed && passed_count <= total_count);
    assert.ok(outcome.gate.reasons.length > 0, 'it says why');
    assert.ok('rejection' in outcome && outcome.rejection.message.includes('What helps: '));
    assert.ok(outcome.usage.input_tokens > 0, 'what it cost is counted');
  }
});

test('headings without a sentence, and a table without rows, are rejected, as no money would help', async () => {
  for (const content of ['# \n## \n### \n#### \n##### \n', '| Name | Weight |\n|------|--------|\n']) {
    const outcome = await learn(content, 'empty');
    assert.ok(outcome.kind === 'rejected', outcome.kind);
    assert.deepEqual(outcome.gate.reasons, ['too_few_validated']);
    assert.deepEqual(outcome.usage, noUsage);
  }
});

test('a language that the teacher does not know is rejected, with that reason, before anything is spent', async () => {
  const content =
    'Die Sternwarte Halden wurde 1923 von Marta Ilves auf der Insel Sorvaag gegründet. Das Teleskop hat einen Spiegel ' +
    'von 80 Zentimetern und steht in einem runden Turm. Der Eintritt kostet sechs Euro und ist für Kinder frei.';
  const table = 'Karte;Preis;Dauer\nErwachsene;6 Euro;2 Stunden\nFamilie;14 Euro;3 Stunden\nSchule;2 Euro;1 Stunde';
  for (const [name, text] of [
    ['german', content],
    // The sentences that are made of a table are English in any case.
    ['german-table', `${content}\n\n${table}\n`],
  ] as const) {
    const outcome = await learn(text, name);
    assert.ok(outcome.kind === 'rejected', outcome.kind);
    assert.deepEqual(outcome.rejection.reasons, ['language_not_known']);
    assert.match(outcome.rejection.message, /not in a language that this model is taught in/);
    assert.deepEqual(outcome.usage, noUsage);
  }
});

test('words in random order are rejected before anything is taught', async () => {
  const text = `${shortPassage} Velona sells maps of rivers to hikers. Its maps cost 12 euros. The office of Velona is above a bakery.`;
  const content = shuffled(text.split(' '), randomNumbers(3)).join(' ');
  const outcome = await learn(content, 'shuffled');
  assert.ok(outcome.kind === 'rejected');
  assert.deepEqual(outcome.training, { steps: 0, tokens: 0, final_loss: 0 });
  assert.deepEqual(outcome.gate.reasons, ['not_understood']);
  assert.match(outcome.rejection.message, /words in random order/);
  assert.equal(outcome.usage.output_tokens, 0);
  assert.ok(outcome.usage.input_tokens > 0);
});
