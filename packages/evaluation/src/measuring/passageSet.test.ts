import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { questionKey, isFunctionWord, containsWords, normalise, wordTokens } from '@engraft/learning/parts';
import { parsePassageSet, type PassageEntry } from './passageSet.js';

const folder = new URL('../../../../bench/learning/', import.meta.url);

async function shipped(name: string): Promise<readonly PassageEntry[]> {
  const set = parsePassageSet(await readFile(new URL(name, folder), 'utf8'));
  if (set.kind === 'invalid') assert.fail(`${name}, line ${set.line}, ${set.field}: ${set.message}`);
  return set.passages;
}

async function passagesAndHandbooks(): Promise<readonly PassageEntry[]> {
  const files = ['passages.jsonl', 'second.jsonl', 'handbooks.jsonl'];
  return (await Promise.all(files.map(shipped))).flat();
}

const good = {
  id: 'lamp',
  kind: 'product',
  passage: 'The Lume Lamp costs 49 dollars.',
  questions: [{ phrasings: ['What does the Lume Lamp cost?', 'How dear is the Lume Lamp?'], answers: ['49 dollars'] }],
};

test('what is wrong is named by line and field', () => {
  const text = (...entries: unknown[]): string => entries.map((entry) => JSON.stringify(entry)).join('\n\n');
  const [question] = good.questions;
  for (const [file, line, field, message] of [
    ['', 1, '', /no passage/],
    [`${text(good)}\n{"id": "ship",`, 2, '', /JSON object/],
    [text(good, good), 3, 'id', /line 1 has 'lamp' too/],
    [text({ ...good, id: 'a b' }), 1, 'id', /letters, digits/],
    [text({ ...good, passage: 'Short.' }), 1, 'passage', /20/],
    [text({ ...good, questions: [] }), 1, 'questions', /1/],
    [text({ ...good, questions: [{ ...question, answers: [''] }] }), 1, 'questions[0].answers[0]', /1/],
    [text({ ...good, questions: [{ ...question, phrasings: ['Once?'] }] }), 1, 'questions[0].phrasings', /2/],
    [text({ ...good, colour: 'red' }), 1, '', /colour/],
  ] as const) {
    const set = parsePassageSet(file);
    assert.ok(set.kind === 'invalid', file);
    assert.deepEqual([set.line, set.field], [line, field]);
    assert.match(set.message, message);
  }
});

test('the shipped set has ten passages of each of five kinds, with eight questions each', async () => {
  const passages = await shipped('passages.jsonl');
  assert.equal(passages.length, 50);
  for (const kind of ['product', 'biography', 'policy', 'changelog', 'meeting']) {
    assert.equal(passages.filter((entry) => entry.kind === kind).length, 10, kind);
  }
  for (const { id, passage, questions } of passages) {
    assert.ok(passage.length >= 300 && passage.length <= 1200, id);
    assert.equal(questions.length, 8, id);
  }
});

test('the second set has five passages of each kind', async () => {
  const passages = await shipped('second.jsonl');
  for (const kind of ['product', 'biography', 'policy', 'changelog', 'meeting']) {
    assert.equal(passages.filter((entry) => entry.kind === kind).length, 5, kind);
  }
  for (const { id, questions } of passages) assert.equal(questions.length, 8, id);
});

test('the handbooks are as long as a passage may be', async () => {
  for (const { id, passage, questions } of await shipped('handbooks.jsonl')) {
    assert.ok(passage.length >= 15_000, `${id}: ${passage.length}`);
    assert.equal(questions.length, 24, id);
  }
});

test('a question is answered by its passage, does not give its answer away, and is asked in two really different ways', async () => {
  for (const { id, passage, questions } of await passagesAndHandbooks()) {
    for (const { phrasings, answers } of questions) {
      const where = `${id}: ${phrasings.join(' / ')}`;
      assert.ok(
        answers.some((answer) => containsWords(passage, answer)),
        `${where} is answered by the passage`,
      );
      assert.equal(new Set(answers).size, answers.length, `${where} has each answer once`);
      const [first = '', second = ''] = phrasings;
      assert.ok(
        ![first, second].some((phrasing) => containsWords(phrasing, answers[0] ?? '')),
        `${where} keeps its answer`,
      );
      assert.ok(overlap(first, second) <= 0.75, `${where} differ by ${overlap(first, second)}`);
    }
  }
});

test('no two questions of a passage have the same answer, and no question is asked twice', async () => {
  for (const { id, questions } of await passagesAndHandbooks()) {
    const answers = questions.flatMap((question) => [...new Set(question.answers.map(normalise))]);
    const repeated = answers.filter((answer, index) => answers.indexOf(answer) !== index);
    assert.deepEqual(repeated, [], `${id} has an answer twice`);
    const keys = questions.flatMap(({ phrasings }) => phrasings.map(questionKey));
    assert.equal(new Set(keys).size, keys.length, `${id} asks something twice`);
  }
});

test('each passage is about things of its own', async () => {
  const owners = new Map<string, string>();
  for (const { id, questions } of await shipped('passages.jsonl')) {
    for (const name of questions.flatMap(({ answers }) => answers.slice(0, 1).filter(isName))) {
      const key = normalise(name);
      assert.equal(owners.get(key) ?? id, id, name);
      owners.set(key, id);
    }
  }
});

/** Two capitals: a single capitalised word may be a month or a country. */
function isName(answer: string): boolean {
  return /^\p{Lu}\S* \p{Lu}/u.test(answer);
}

/** The content words that two questions share, of all that either has. */
function overlap(a: string, b: string): number {
  const content = (text: string): Set<string> => new Set(wordTokens(text).filter((word) => !isFunctionWord(word)));
  const [left, right] = [content(a), content(b)];
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / Math.max(1, left.size + right.size - shared);
}
