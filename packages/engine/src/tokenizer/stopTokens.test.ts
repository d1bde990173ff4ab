import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import { ChatTokenizer } from './chatTokenizer.js';

suite('generation ends where', () => {
  const stops = (name: string, changes: Readonly<Record<string, string | null>>, expected: readonly number[]): void => {
    test(name, () =>
      withTokenizerFiles(changes, async (folder) => {
        const { stopTokens } = await ChatTokenizer.load(folder);
        assert.deepEqual([...stopTokens].sort(), expected);
      }),
    );
  };
  const config = '{"eos_token_id": [1, 2]}';
  stops('generation_config.json says', { 'config.json': config }, [0, 2]);
  stops('config.json says, without it', { 'generation_config.json': null, 'config.json': config }, [1, 2]);
  stops('config.json says, where it does not', { 'generation_config.json': '{}', 'config.json': config }, [1, 2]);
  stops(
    'config.json says with one id',
    { 'generation_config.json': null, 'config.json': '{"eos_token_id": 0}' },
    [0, 2],
  );
  stops('the turn does, where neither says', { 'generation_config.json': null, 'config.json': '{}' }, [2]);

  test('nothing else says, by the first of the ids', () =>
    withTokenizerFiles(
      { 'generation_config.json': null, 'config.json': config, 'tokenizer_config.json': '{}' },
      async (folder) => {
        assert.equal((await ChatTokenizer.load(folder)).endOfTurn, 1);
      },
    ));

  test('config.json says is a token of the model', () =>
    withRandomCheckpoint(
      async (folder) => {
        const model = join(folder, 'model');
        await rm(join(model, 'generation_config.json'));
        await assert.rejects(openCheckpoint(model), { code: 'checkpoint_invalid', message: /the tokenizer uses 401/ });
      },
      { eos_token_id: 400 },
    ));
});
