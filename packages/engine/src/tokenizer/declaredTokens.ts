/**
 * What stands beside `tokenizer.json`: tokens that other files declare, and names of tokens where no file gives them.
 */
import { join } from 'node:path';
import { brief } from '../checkpoint/brief.js';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { tokenText, tokenTexts } from './namedTokens.js';
import { addedTokens, vocabularyIds, withAddedTokens, type ListedToken } from './tokenizerJson.js';
import { isTokenId } from './vocabulary.js';

const CONFIG_FILE = 'tokenizer_config.json';
const ADDED_FILE = 'added_tokens.json';
/** Lists of further special tokens; the second name is that of `transformers` 4. */
const SPECIAL_LISTS = ['extra_special_tokens', 'additional_special_tokens'];

/** `tokenizer_config.json`; where there is none, `config.json` names tokens by their ids. */
export async function readTokenizerConfig(modelDir: string, tokenizerJson: JsonFields): Promise<JsonFields> {
  const config = await JsonFields.readOptional(join(modelDir, CONFIG_FILE), CONFIG_FILE);
  if (config !== undefined) return config;
  const modelConfig = await JsonFields.readOptional(join(modelDir, 'config.json'), 'config.json');
  // Added ones only: an id that was left at its default may be that of an ordinary word.
  const texts = new Map<unknown, string>(addedTokens(tokenizerJson).map(({ id, content }) => [id, content]));
  const names: Record<string, string> = {};
  for (const name of ['bos_token', 'eos_token']) {
    const ids: readonly unknown[] = [modelConfig?.value(`${name}_id`)].flat();
    const text = texts.get(ids[0]);
    if (text !== undefined) names[name] = text;
  }
  return new JsonFields(CONFIG_FILE, names);
}

/**
 * `tokenizer.json` with the tokens that `transformers` adds to it: those of `added_tokens_decoder` or, where there is
 * no such field, of `added_tokens.json`; and special tokens that the vocabulary has as if they were words.
 */
export async function withDeclaredTokens(
  modelDir: string,
  tokenizerJson: JsonFields,
  config: JsonFields,
): Promise<JsonFields> {
  const known = new Set(addedTokens(tokenizerJson).map(({ content }) => content));
  const declared = (await declaredTokens(modelDir, config)).filter(({ token }) => !known.has(token.content));
  const special = specialTexts(config).filter((text) => !known.has(text));
  if (declared.length === 0 && special.length === 0) return tokenizerJson;

  const vocabulary = vocabularyIds(tokenizerJson);
  const holders = new Map([...vocabulary].map(([text, id]) => [id, text]));
  for (const { id, content } of addedTokens(tokenizerJson)) holders.set(id, content);
  const added = new Map<string, ListedToken>();
  for (const { token, source } of declared) {
    const { id, content } = token;
    const holder = holders.get(id) ?? content;
    if (holder !== content) {
      const message = `${source} gives ${brief(content)} the id ${id}, which tokenizer.json gives to ${brief(holder)}`;
      throw new EngineError('checkpoint_invalid', message);
    }
    holders.set(id, content);
    added.set(content, token);
  }
  for (const content of special) {
    const id = added.get(content)?.id ?? vocabulary.get(content);
    if (id !== undefined) added.set(content, { normalized: false, ...added.get(content), id, content, special: true });
  }
  return withAddedTokens(tokenizerJson, (tokens) => [...tokens, ...added.values()]);
}

interface DeclaredToken {
  readonly token: ListedToken;
  /** What error messages call the place. */
  readonly source: string;
}

async function declaredTokens(modelDir: string, config: JsonFields): Promise<readonly DeclaredToken[]> {
  const decoder = config.nested('added_tokens_decoder');
  if (decoder !== undefined) {
    return Object.keys(decoder.raw).map((key) => {
      const id = Number(key);
      const token = decoder.nested(key);
      if (!isTokenId(id) || token === undefined) throw decoder.refusal(key, 'a token under its id');
      return { token: { ...token.raw, id, content: token.string('content') }, source: decoder.source };
    });
  }
  const file = await JsonFields.readOptional(join(modelDir, ADDED_FILE), ADDED_FILE);
  return Object.entries(file?.raw ?? {}).map(([content, id]) => {
    if (!isTokenId(id))
      throw new EngineError('checkpoint_invalid', `${ADDED_FILE}: ${brief(content)} must have a token id`);
    return { token: { id, content }, source: ADDED_FILE };
  });
}

/** Texts of what `tokenizer_config.json` says is special. Padding is left out, which may be any word. */
function specialTexts(config: JsonFields): readonly string[] {
  const lists = SPECIAL_LISTS.flatMap((name) => {
    const value: unknown = config.value(name);
    return Array.isArray(value) ? value.map(tokenText) : [];
  });
  const named = Object.values(tokenTexts(config, ['bos_token', 'eos_token']));
  return [...named, ...lists].filter((text) => text !== undefined);
}
