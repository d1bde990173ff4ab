import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { ggufFixture, ggufJson } from '../testing/ggufFixtures.js';
import { TextCodec } from '../tokenizer/textCodec.js';
import { vocabularyIds } from '../tokenizer/tokenizerJson.js';
import { withGguf } from './ggufFile.js';
import { ggufTokenizerFiles } from './ggufTokenizer.js';
import { readVocabulary } from './vocabulary.js';

type Files = Readonly<Record<string, string>>;

/** Makes the tokenizer's files of a fixture with some of its metadata changed. */
function filesOf(name: string, changes: JsonObject): Promise<Files> {
  return withGguf(ggufFixture(`${name}.gguf`), ({ metadata: { raw } }) => {
    const metadata = new JsonFields(`${name}.gguf`, { ...raw, ...changes });
    return Promise.resolve(ggufTokenizerFiles(metadata, readVocabulary(metadata, 1000), 2048));
  });
}

function parsed(files: Files, name: string): JsonFields {
  return new JsonFields(name, JSON.parse(files[name] ?? assert.fail()) as JsonObject);
}

suite('texts are cut in the way that the file names, as by `tokenizers`', () => {
  const { texts, ids } = ggufJson('pre.json') as { texts: string[]; ids: Record<string, number[][] | string> };
  for (const [name, value] of Object.entries(ids)) {
    test(typeof value === 'string' ? `${name}, as ${value}` : name, async () => {
      const files = await filesOf('qwen2', { 'tokenizer.ggml.pre': name });
      const codec = new TextCodec(parsed(files, 'tokenizer.json'), parsed(files, 'tokenizer_config.json'), []);
      const expected = typeof value === 'string' ? ids[value] : value;
      assert.deepEqual(
        texts.map((text) => codec.encode(text)),
        expected,
      );
    });
  }
});

suite('what the tokenizer does not have is refused by the name of its field', () => {
  const refused: readonly (readonly [string, JsonObject, RegExp])[] = [
    ['qwen2', { 'tokenizer.ggml.pre': 'mpt' }, /qwen2\.gguf: tokenizer\.ggml\.pre must be one of default, .*"mpt"/],
    ['qwen2', { 'tokenizer.ggml.model': 'bert' }, /tokenizer\.ggml\.model must be "gpt2" or "llama", but is "bert"/],
    ['qwen2', { 'tokenizer.ggml.merges': ['Ġ t', 'q'] }, /tokenizer\.ggml\.merges\[1\] must be two tokens/],
    [
      'qwen2',
      { 'tokenizer.ggml.merges': ['Ġ Ġt'] },
      /tokenizer\.ggml\.merges\[0\] must be two tokens that make a third/,
    ],
    ['qwen2', { 'tokenizer.ggml.merges': undefined }, /tokenizer\.ggml\.merges must be a list of strings/],
    [
      'qwen2',
      { 'tokenizer.ggml.eos_token_id': 5000 },
      /tokenizer\.ggml\.eos_token_id must be the id of one of 365 tokens/,
    ],
    [
      'qwen2',
      { 'tokenizer.ggml.eos_token_id': undefined },
      /tokenizer\.ggml\.eos_token_id must be the id of the token/,
    ],
    ['qwen2', { 'tokenizer.ggml.token_type': [1, 2] }, /tokenizer\.ggml\.token_type must be 365 numbers/],
    ['qwen2', { 'tokenizer.chat_template': undefined }, /tokenizer\.chat_template must be the model's chat template/],
    ['mistral', { 'tokenizer.ggml.scores': undefined }, /tokenizer\.ggml\.scores must be a list of numbers/],
    ['mistral', { 'tokenizer.ggml.precompiled_charsmap': [1] }, /tokenizer\.ggml\.precompiled_charsmap must be absent/],
  ];
  for (const [name, changes, message] of refused) {
    test(`${name}: ${Object.entries(changes).flat().join(' ').slice(0, 60)}`, () =>
      assert.rejects(filesOf(name, changes), message));
  }

  test('more tokens than the model has', () =>
    withGguf(ggufFixture('qwen2.gguf'), ({ metadata }) => {
      assert.throws(
        () => readVocabulary(metadata, 359),
        /tokenizer\.ggml\.tokens has 365 tokens, but the model only 359/,
      );
      return Promise.resolve();
    }));
});

void test('SentencePiece puts a space before each text between control tokens, unless the file says no', async () => {
  const spaces = async (changes: JsonObject): Promise<readonly string[]> => {
    const files = await filesOf('mistral', changes);
    const json = parsed(files, 'tokenizer.json');
    const codec = new TextCodec(json, parsed(files, 'tokenizer_config.json'), []);
    const vocabulary = vocabularyIds(json);
    const names = new Map([...vocabulary].map(([text, id]) => [id, text]));
    return codec.encode('<s>1<s> 1').map((id) => names.get(id) ?? '');
  };
  assert.equal((await spaces({})).join(' '), '<s> ▁1 <s> ▁ ▁1');
  assert.equal((await spaces({ 'tokenizer.ggml.add_space_prefix': false })).join(' '), '<s> 1 <s> ▁1');
});

void test('every token that ends a turn ends the generation, and is special whatever the file calls it', async () => {
  const ends = {
    'tokenizer.ggml.eos_token_id': 40,
    'tokenizer.ggml.eot_token_id': 41,
    'tokenizer.ggml.eom_token_id': 40,
  };
  const files = await filesOf('qwen2', ends);
  assert.deepEqual(parsed(files, 'generation_config.json').value('eos_token_id'), [40, 41]);
  const added = parsed(files, 'tokenizer.json').value('added_tokens') as { id: number; special: boolean }[];
  assert.deepEqual(
    added.filter(({ id }) => id === 40 || id === 41).map(({ special }) => special),
    [true, true],
  );
});

void test('a template for tools has a file of its own', async () => {
  const files = await filesOf('qwen2', { 'tokenizer.chat_template.tool_use': '{{ tools }}' });
  assert.equal(files['additional_chat_templates/tool_use.jinja'], '{{ tools }}');
});

void test('what a vocabulary is filled up with is no token', async () => {
  const files = await filesOf('llama', {});
  assert.doesNotMatch(files['tokenizer.json'] ?? '', /\[PAD0\]/);
  const [before, after] = await Promise.all(
    [false, true].map(async (first) =>
      parsed(await filesOf('llama', { 'tokenizer.ggml.add_bos_token': first }), 'tokenizer.json'),
    ),
  );
  assert.equal(before?.has('post_processor'), false);
  assert.equal(after?.has('post_processor'), true);
});
