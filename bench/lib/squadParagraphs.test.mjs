import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { splitByTitle } from '../../packages/evaluation/dist/index.js';
import { chooseParagraphs, isForReporting, readParagraphs } from './squadParagraphs.mjs';

/** 400 titles of five paragraphs, from too short to too long. */
const paragraphs = Array.from({ length: 2000 }, (_, index) => ({
  title: `Title ${Math.floor(index / 5)}`,
  context: `Paragraph ${index} of Varn. `.repeat(1 + 15 * (index % 5)),
  questions: [{ question: 'What is it?', answers: index % 7 === 0 ? [] : ['Varn'] }],
}));
const titleOf = new Map(paragraphs.map(({ title, context }) => [context, title]));
const titlesOf = (chosen) => new Set(chosen.map(({ passage }) => titleOf.get(passage)));

test('reporting and choosing use paragraphs of titles of their own, none of them trained on', () => {
  const [reported, development] = [false, true].map((each) =>
    chooseParagraphs(paragraphs, { count: Infinity, development: each }),
  );
  const trained = new Set(splitByTitle(paragraphs).training.map(({ title }) => title));
  const [ours, theirs] = [titlesOf(reported), titlesOf(development)];
  assert.ok(ours.size >= 4 && theirs.size >= 4, `${ours.size} and ${theirs.size} titles`);
  for (const title of ours) assert.ok(isForReporting(title) && !theirs.has(title) && !trained.has(title), title);
  for (const title of theirs) assert.ok(!isForReporting(title) && !trained.has(title), title);
  for (const { passage, questions } of [...reported, ...development]) {
    assert.ok(passage.length >= 300 && passage.length <= 1500);
    assert.ok(questions.length > 0);
  }
});

test('the same paragraphs are chosen each time, evenly over the titles', () => {
  const choose = () => chooseParagraphs(paragraphs, { count: 6, development: false });
  assert.deepEqual(choose(), choose());
  assert.equal(choose().length, 6);
  assert.ok(titlesOf(choose()).size >= 4);
});

test('a file may be compressed, and what is wrong is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'engraft-squad-'));
  try {
    const [plain, zipped, wrong] = ['a.jsonl', 'a.jsonl.gz', 'b.jsonl'].map((name) => join(folder, name));
    const line = JSON.stringify({ title: 'Varn', context: 'Varn is old.', qas: [{ q: 'What is old?', a: ['Varn'] }] });
    writeFileSync(plain, line);
    writeFileSync(zipped, gzipSync(line));
    writeFileSync(wrong, `${line}\n{"title": "Varn", "qas": []}`);
    assert.deepEqual(readParagraphs(plain), readParagraphs(zipped));
    assert.equal(readParagraphs(plain).length, 1);
    assert.throws(() => readParagraphs(wrong), /b.jsonl, line 2, context: /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
