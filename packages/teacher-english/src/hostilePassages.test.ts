import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chunkPassage, plainText } from '@engraft/learning/parts';
import { findCandidates } from './questions/candidates.js';

/**
 * The measure of work: the UTF-16 units that are given to regular expressions, to the segmenters of `Intl`, and to the
 * language library, which uses both. It shows code that reads a passage once for each of its names, on any machine. An
 * expression that backtracks without end shows by never returning.
 */
let units = 0;

/* eslint-disable @typescript-eslint/unbound-method -- called with their own object below */
const execute = RegExp.prototype.exec;
const segment = Intl.Segmenter.prototype.segment;
/* eslint-enable @typescript-eslint/unbound-method */
// `test`, `matchAll`, `replace`, `search` and `split` go by `exec`.
RegExp.prototype.exec = function counted(this: RegExp, text: string) {
  const from = this.global || this.sticky ? this.lastIndex : 0;
  const match = execute.call(this, text);
  // Where an expression may match at one place alone, that is all it looks at.
  const isFixed = this.sticky || (this.source.startsWith('^') && !this.multiline);
  units += 1 + (match !== null ? match.index + match[0].length - from : isFixed ? 0 : text.length - from);
  return match;
};
Intl.Segmenter.prototype.segment = function counted(this: Intl.Segmenter, text: string) {
  units += text.length;
  return segment.call(this, text);
};

async function workOf(passage: string): Promise<number> {
  const before = units;
  const text = plainText(passage);
  await findCandidates(text, chunkPassage(text, 1_500));
  return units - before;
}

const repeated = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length);

/** A list of parts that differ, each of which names something. */
const listOf = (part: (name: string, index: number) => string) => (length: number) => {
  const parts: string[] = [];
  for (let index = 0, written = 0; written < length; index++) {
    const name = `${String.fromCharCode(65 + (index % 26))}${index.toString(26).replace(/\d/gu, 'o')}n`;
    parts.push(part(name, index));
    written += parts.at(-1)?.length ?? 0;
  }
  return parts.join('').slice(0, length);
};

const shapes: Readonly<Record<string, (length: number) => string>> = {
  'one list of names': listOf((name) => `Ann ${name}, `),
  'names joined by "and"': listOf((name) => `${name} and `),
  'a name a line': listOf((name) => `Ann ${name}\n`),
  'a name a sentence': listOf((name) => `Ann ${name}. `),
  'names that are later named by half': listOf((name) => `Ann ${name}. ${name}. `),
  'nouns that stand for names': listOf((name) => `The ${name.toLowerCase()} called ${name} Park is old. `),
  'values that contradict each other': listOf((_, index) => `Ada has ${index} cats. `),
  'one subject': repeated('Ada was born. '),
  'numbers alone': repeated('12 '),
  'addresses without end': repeated('a@b.'),
  'one giant word': repeated('A'),
  'one word of hyphens': repeated('a-'),
  'only punctuation': repeated('.,;:!?'),
  'line breaks alone': repeated('\n'),
  'nested brackets': (length) => '('.repeat(length / 2) + ')'.repeat(length / 2),
  'brackets of links': repeated('[a]('),
  'quotes without end': repeated('"a '),
  'backticks without end': repeated('`a '),
  'stars without end': repeated('*a'),
  'nested quotes of Markdown': repeated('>'),
  'a row of a thousand cells': repeated('|a'),
  'rows of a table': listOf((name, index) => `${name},${index},${index * 7} kg\n`),
  'columns of a table': (length) => `${'a\t'.repeat(length / 4)}\n${'1\t'.repeat(length / 4)}`,
  'tables of two lines': repeated('a;b;c\n1;2;3\n\n'),
  'rows of values between commas': repeated('1,2\n'),
  'rows of values between bars': repeated('a|1\n'),
  'rows of values between wide gaps': repeated('a  1\n'),
  'rows of one cell between tabs': repeated('a\t\n'),
  'elements of HTML without end': (length) => `<p>a</p>${'<b><p>'.repeat(length / 6)}`,
  'elements of HTML that every paragraph opens again': (length) =>
    `<p>a</p><p>${listOf((_, index) => `<b a=${index}>`)(length / 2)}${'<p>x'.repeat(length / 8)}`,
  'tables in tables': (length) => `<p>a</p>${'<table><tr><td>'.repeat(length / 15)}`,
  'marks on one letter': (length) => `e${'\u0301'.repeat(length - 1)}`,
};

const prose = repeated(
  'Velona is a software company in Ghent. It was started in 2015 by Sara Deck, who had sold a bakery before. ' +
    'Its office has a green door and opens at 9:30. Nobody is told what the 75 employees earn. ',
);

describe('a hostile passage of twice the length takes some twice the work, and a bounded multiple of prose', () => {
  for (const [name, shape] of Object.entries(shapes)) {
    test(name, async () => {
      const [half, whole, usual] = [await workOf(shape(3_000)), await workOf(shape(6_000)), await workOf(prose(6_000))];
      assert.ok(whole <= 3.2 * half, `${half} units, then ${whole}`);
      assert.ok(whole <= 15 * usual, `${whole} units, of prose ${usual}`);
    });
  }
});
