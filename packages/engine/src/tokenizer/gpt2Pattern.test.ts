import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { tinyTokenizer } from '../testing/randomCheckpoint.js';
import { withWrittenPattern } from './gpt2Pattern.js';
import { TextCodec } from './textCodec.js';

const tokenizerJson = JSON.parse(readFileSync(join(tinyTokenizer, 'tokenizer.json'), 'utf8')) as JsonObject;
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true };
const digits = { type: 'Digits', individual_digits: true };

/** The pieces in which pairs are merged, with a bar between them. Each byte is a letter of GPT-2's alphabet. */
function cut(preTokenizer: JsonObject, text: string): string {
  const json = new JsonFields('tokenizer.json', { ...tokenizerJson, added_tokens: [], pre_tokenizer: preTokenizer });
  const { pre_tokenizer: split } = new Tokenizer(withWrittenPattern(json), {});
  const pieces = split?.(text) ?? [];
  return pieces.join('|');
}

/** By `tokenizers` of Python, 0.23.3. `ï»¿` is U+FEFF, `Âħ` U+0085, `Âł` U+00A0. */
const expected: readonly (readonly [string, string])[] = [
  ['\n\n\ufeffTitle', 'Ċ|Ċ|ï»¿|Title'],
  ['a \u0085b', 'a|Ġ|Âħ|b'],
  ['x  \ufeffy', 'x|Ġ|Ġï»¿|y'],
  ['\ufeff "Quote"', 'ï»¿|Ġ"|Quote|"'],
  ['a\u00a0\ufeff\n', 'a|Âł|ï»¿|Ċ'],
];

test('white space is that of `tokenizers`, not of JavaScript', () => {
  for (const [text, pieces] of expected) {
    assert.equal(cut(byteLevel, text), pieces, JSON.stringify(text));
    assert.equal(cut({ type: 'Sequence', pretokenizers: [digits, byteLevel] }, text), pieces, JSON.stringify(text));
  }
});

test('texts are encoded so', () => {
  const model = { type: 'BPE', vocab: { Ċ: 0, ï: 1, '»': 2, '¿': 3, Ċï: 4 }, merges: [['Ċ', 'ï']] };
  const json = { ...tokenizerJson, added_tokens: [], normalizer: null, pre_tokenizer: byteLevel, model };
  const codec = new TextCodec(new JsonFields('tokenizer.json', json), new JsonFields('tokenizer_config.json', {}), []);
  assert.deepEqual(codec.encode('\n\ufeff'), [0, 1, 2, 3]);
});

test('other texts are cut as by the pattern of the library', () => {
  const library = new Tokenizer({ ...tokenizerJson, pre_tokenizer: byteLevel }, {}).pre_tokenizer;
  const parts = fc.constantFrom(
    "don't",
    ' ',
    '\n',
    '\t',
    "'LL",
    '12',
    '½',
    'é',
    'e\u0301',
    '数字',
    '👩',
    '\u00a0',
    '...',
    'ﬁ',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(parts, fc.string({ unit: 'grapheme-ascii' })), { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      assert.equal(cut(byteLevel, text), library?.(text).join('|'));
    }),
  );
});

test('patterns that are written, and spaces that are put before a text, stay as they are', () => {
  for (const kept of [{ ...byteLevel, use_regex: false }, { ...byteLevel, add_prefix_space: true }, digits, null]) {
    const json = new JsonFields('tokenizer.json', { pre_tokenizer: kept });
    assert.deepEqual(withWrittenPattern(json), { pre_tokenizer: kept });
  }
});
