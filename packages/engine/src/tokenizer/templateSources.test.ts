import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { tinyTokenizer, withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { withTokenizerFiles } from '../testing/tokenizerFiles.js';
import type { ChatPrompt } from '../types.js';
import { ChatTokenizer } from './chatTokenizer.js';

const file = 'chat_template.jinja';
const oldFile = 'chat_template.json';
const configFile = 'tokenizer_config.json';
const toolUseFile = 'additional_chat_templates/tool_use.jinja';
const without: ChatPrompt = { messages: [{ role: 'user', content: 'Hi' }] };
const withTools: ChatPrompt = { ...without, tools: [{ name: 'time', parameters: { type: 'object' } }] };

const named = (name: string) => ({ name, template: `${name}: {{ messages[0].content }}` });

/** Makes a `tokenizer_config.json` with a `chat_template`. */
function configWith(chatTemplate: unknown): string {
  const config = JSON.parse(readFileSync(join(tinyTokenizer, configFile), 'utf8')) as object;
  return JSON.stringify({ ...config, chat_template: chatTemplate });
}

suite('chat templates of one checkpoint', () => {
  const renders = (name: string, changes: Record<string, string | null>, texts: readonly [string, string]): void => {
    test(name, () =>
      withTokenizerFiles(changes, async (folder) => {
        const tokenizer = await ChatTokenizer.load(folder);
        assert.deepEqual([tokenizer.render(without), tokenizer.render(withTools)], texts);
      }),
    );
  };
  // `PreTrainedTokenizerFast.get_chat_template` of transformers 5.23 accepts this list.
  const list = [named('rag'), named('default'), named('tool_use')];
  renders('in a list', { [file]: null, [configFile]: configWith(list) }, ['default: Hi', 'tool_use: Hi']);
  renders('in a list without one for tools', { [file]: null, [configFile]: configWith(list.slice(0, 2)) }, [
    'default: Hi',
    'default: Hi',
  ]);
  const byName = { default: 'default: {{ messages[0].content }}', tool_use: 'tools', rag: 7 };
  renders('by their names', { [file]: null, [configFile]: configWith(byName) }, ['default: Hi', 'tools']);
  renders('in a field and a file', { [file]: null, [configFile]: configWith('field'), [toolUseFile]: 'tools' }, [
    'field',
    'tools',
  ]);
  renders('in files', { [file]: 'file', [toolUseFile]: 'tools', 'additional_chat_templates/rag.jinja': '{% if' }, [
    'file',
    'tools',
  ]);
  const old = JSON.stringify({ chat_template: 'old' });
  renders('in a file of older releases', { [file]: null, [configFile]: configWith(undefined), [oldFile]: old }, [
    'old',
    'old',
  ]);
  renders('in a field, which takes its place', { [file]: null, [configFile]: configWith('field'), [oldFile]: old }, [
    'field',
    'field',
  ]);
  renders('in a file, which takes the place of a list', { [file]: 'file', [configFile]: configWith(list) }, [
    'file',
    'file',
  ]);

  const refuses = (name: string, changes: Record<string, string | null>, message: RegExp): void => {
    test(`${name} is refused`, () =>
      withTokenizerFiles(changes, (folder) =>
        assert.rejects(ChatTokenizer.load(folder), { name: 'EngineError', code: 'checkpoint_invalid', message }),
      ));
  };
  const refusesField = (name: string, field: unknown, message: RegExp): void =>
    refuses(name, { [file]: null, [configFile]: configWith(field) }, message);
  refusesField('a list without a default', [named('tool_use')], /: chat_template must be .* named "default"/);
  refusesField('an empty list', [], /: chat_template must be .* named "default"/);
  refusesField(
    'a list of very many',
    Array.from({ length: 17 }, () => named('default')),
    /at most 16 templates/,
  );
  refusesField('a template without a name', [{ template: 'x' }], /chat_template\[0\]: name must be a string/);
  refusesField('a name without a template', [named('default'), { name: 'x' }], /chat_template\[1\]: template must be/);
  refusesField('a list of texts', ['x'], /chat_template\[0\] must be an object/);
  refusesField('a name for a number', { default: 7 }, /chat_template: default must be a string, but is 7/);
  refusesField('a number', 7, /chat_template must be a string or a list of named templates, but is 7/);
  refusesField(
    'a broken one in a list',
    [named('default'), { name: 'tool_use', template: '{% if' }],
    /template tool_use:/,
  );
  refuses('a broken one in a file', { [toolUseFile]: '{% if' }, /template tool_use:/);
});

test('the template for tools is part of what a checkpoint is, where there is one', () =>
  withRandomCheckpoint(async (folder) => {
    const model = join(folder, 'model');
    const hash = async () => (await openCheckpoint(model)).description.contentHash;
    const without = await hash();
    await mkdir(join(model, 'additional_chat_templates'));
    assert.equal(await hash(), without);
    await writeFile(join(model, toolUseFile), 'tools');
    const withTools = await hash();
    await writeFile(join(model, toolUseFile), 'other tools');
    assert.equal(new Set([without, withTools, await hash()]).size, 3);
  }));
