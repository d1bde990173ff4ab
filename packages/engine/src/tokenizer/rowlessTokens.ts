import { join } from 'node:path';
import { JsonFields } from '../checkpoint/jsonFields.js';
import { addedTokens, isListedToken, vocabularyIds, withAddedTokens, type ListedToken } from './tokenizerJson.js';

/**
 * `tokenizer.json` without the added tokens that the model has no row for, such as a `[PAD]` added after the training.
 * Their text stays ordinary text. Tokens that are `needed` stay, so that the model is refused.
 */
export async function withoutRowlessTokens(
  modelDir: string,
  tokenizerJson: JsonFields,
  needed: (token: ListedToken) => boolean,
): Promise<JsonFields> {
  const config = await JsonFields.readOptional(join(modelDir, 'config.json'), 'config.json');
  const rows = config?.value('vocab_size');
  if (typeof rows !== 'number' || addedTokens(tokenizerJson).every(({ id }) => id < rows)) return tokenizerJson;
  const vocabulary = vocabularyIds(tokenizerJson);
  const isRowless = (token: unknown): boolean =>
    isListedToken(token) && token.id >= rows && !vocabulary.has(token.content) && !needed(token);
  return withAddedTokens(tokenizerJson, (tokens) => tokens.filter((token) => !isRowless(token)));
}
