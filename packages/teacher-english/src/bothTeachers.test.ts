/** The rules of English beside the shipped model, which asks with its teaching adapter. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hashAdapterFolder, startEngineHost, type EngineHost } from '@engraft/engine';
import { areAskedWell, modelTeacher, type TaughtPassage, type Teacher } from '@engraft/learning';
import { chunkForTeacher, readPassage, type Fact } from '@engraft/learning/parts';
import { callsFor } from '@engraft/learning/testing/calls.js';
import { baseRecipe } from '@engraft/learning/testing/recipe.js';
import { bothTeachers } from './bothTeachers.js';
import { englishTeacher } from './englishTeacher.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
/** The rules ask little about this. */
const text =
  'Although its causes are still argued over, the decline of the league is usually put down to the loss of its ' +
  'northern ports and to the plague of 1351. By the time that Joran Vale, the chair of its council in Halden, ' +
  'reformed it, few of the towns that had founded it sent anybody to its meetings.';
const plan = { factCount: 40, formsPerFact: 7 };

let engine: EngineHost;
let both: Teacher;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 2 });
  const folder = `${modelDir}/teacher`;
  const contentHash = await hashAdapterFolder(folder);
  assert.ok(contentHash !== null);
  both = bothTeachers(baseRecipe, { folder, contentHash });
});
after(() => engine.close());

async function passageOf(content: string): Promise<TaughtPassage> {
  const read = readPassage(content);
  return { ...read, chunks: await chunkForTeacher(engine, read.text, 2048, baseRecipe) };
}

async function confirmedFacts(content: string): Promise<Fact[]> {
  const passage = await passageOf(content);
  const taught = await both.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  return both.confirm(callsFor(engine, 20_000_000), passage, taught?.facts ?? []);
}

test('where the rules ask little, both ask, and words of its sentence ask for a fact of the model, too', async () => {
  const passage = await passageOf(text);
  const taught = await both.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  const askedBy = (facts: readonly Fact[], name: string): Fact[] => facts.filter(({ teacher }) => teacher === name);
  const facts = taught?.facts ?? [];
  assert.equal(taught?.asked_well, false);
  assert.ok(askedBy(facts, 'english').length > 0 && askedBy(facts, 'model').length > 0);
  assert.equal(askedBy(facts, 'english').length + askedBy(facts, 'model').length, facts.length);
  const confirmed = await both.confirm(callsFor(engine, 20_000_000), passage, facts);
  assert.deepEqual(new Set(confirmed.map(({ teacher }) => teacher)), new Set(['english', 'model']));
  const chair = askedBy(confirmed, 'model').find(({ answer }) => answer === 'Joran Vale');
  assert.ok(chair !== undefined);
  assert.ok(chair.forms.some(({ question }) => /^Who .*chair.* Halden\?$/u.test(question)));
  assert.ok(chair.forms.some(({ standing }) => standing === 'words'));
  assert.deepEqual(
    await both.confirm(callsFor(engine, 20_000_000), passage, facts),
    confirmed,
    'a job that begins again',
  );
  for (const factCount of [1, 4]) {
    const few = await both.teach(callsFor(engine, 20_000_000), passage, { ...plan, factCount }, 7);
    assert.ok(few !== null && few.facts.length <= factCount, `${few?.facts.length} of ${factCount}`);
  }
});

test('where the rules ask well, they teach alone, and read what they asked about', async () => {
  const passage = await passageOf(
    'The Lume Lamp was invented by Mira Voss. It weighs 412 grams. The Lume Lamp costs 86 dollars. It is made in Port ' +
      'Tessaly.',
  );
  const english = englishTeacher(baseRecipe);
  const taught = await both.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  const alone = await english.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  const confirmed = await english.confirm(callsFor(engine, 20_000_000), passage, alone?.facts ?? []);
  assert.equal(taught?.asked_well, undefined);
  const marks = { teacher: 'english', confirmed: true };
  assert.deepEqual(
    taught?.facts,
    confirmed.map((fact) => ({ ...fact, ...marks })),
  );
  const calls = callsFor(engine, 20_000_000);
  assert.deepEqual(await both.confirm(calls, passage, taught.facts), taught.facts);
  assert.equal(calls.meter.usage.input_tokens, 0, 'what is confirmed is not asked again');
  const [fact] = confirmed;
  assert.ok(fact !== undefined);
  const question = 'Who invented it?';
  assert.deepEqual(both.reading(passage, { ...fact, ...marks }, question), english.reading(passage, fact, question));
});

test('without money to judge what the rules ask, the model is asked as well', async () => {
  const passage = await passageOf('The Lume Lamp was invented by Mira Voss. It weighs 412 grams.');
  const english = englishTeacher(baseRecipe);
  const taught = await english.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  const facts = await english.confirm(callsFor(engine, 20_000_000), passage, taught?.facts ?? []);
  const asking = { passage, recipe: baseRecipe, adapter: null };
  assert.equal(await areAskedWell({ ...asking, calls: callsFor(engine, 20_000_000) }, facts), true);
  assert.equal(await areAskedWell({ ...asking, calls: callsFor(engine, 1) }, facts), false);
});

test('the plan has room for the facts and the reads of both', async () => {
  const passage = await passageOf(text);
  const [english, model] = [englishTeacher(baseRecipe), modelTeacher(baseRecipe, null)];
  const { factCount, extraReads } = await both.measure(passage);
  const [one, other] = [await english.measure(passage), await model.measure(passage)];
  assert.equal(factCount, one.factCount + other.factCount);
  const reads = one.extraReads * one.factCount + other.extraReads * other.factCount;
  assert.ok(reads > 0 && Math.abs(extraReads * factCount - reads) < 1e-9);
});

test('what means nothing to the rules is taught by neither', async () => {
  const german = 'Die Sternwarte Halden wurde 1923 von Marta Ilves auf der Insel Sorvaag gegründet.';
  const taught = await both.teach(callsFor(engine, 20_000_000), await passageOf(german), plan, 7);
  assert.deepEqual([taught?.understood, taught?.facts], [false, []]);
  // The model alone would confirm facts of these.
  assert.deepEqual(
    await confirmedFacts('asdf ghjk qwer tyui. zxcv bnmm poiu lkjh gfds. mnbv cxza qpwo eiru tyal.'),
    [],
  );
});

test('a job that an earlier release began, with the rules alone, goes on', async () => {
  const passage = await passageOf('The Lume Lamp was invented by Mira Voss. It weighs 412 grams.');
  const english = englishTeacher(baseRecipe);
  const taught = await english.teach(callsFor(engine, 20_000_000), passage, plan, 7);
  const confirmed = await both.confirm(callsFor(engine, 20_000_000), passage, taught?.facts ?? []);
  assert.ok(confirmed.length > 0);
  assert.deepEqual(confirmed, await english.confirm(callsFor(engine, 20_000_000), passage, taught?.facts ?? []));
});

test('a value that the passage contradicts is not taught, whoever asks', async () => {
  const facts = await confirmedFacts(
    'The Lume Lamp costs 49 dollars. The Lume Lamp costs 82 dollars. The Lume Lamp was invented by Mira Voss.',
  );
  assert.ok(facts.length > 0);
  for (const { answer, forms } of facts) {
    for (const said of [answer, ...forms.map(({ question }) => question)]) assert.doesNotMatch(said, /49|82/);
  }
});
