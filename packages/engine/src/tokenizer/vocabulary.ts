import { abbreviate } from '../support/abbreviate.js';
import { isJsonObject, type JsonFields } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';

/** More tokens than any vocabulary has. The bound is needed since the tokenizer library makes a table up to any id. */
const maxTokenId = 2 ** 21;

export function isTokenId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < maxTokenId;
}

/**
 * Checks the model's vocabulary, because the tokenizer library trusts it.
 * @throws EngineError `checkpoint_invalid` naming the token.
 */
export function checkVocabularyIds(tokenizerJson: JsonFields): void {
  const model = tokenizerJson.nested('model');
  if (model === undefined) throw tokenizerJson.refusal('model', 'an object');
  const vocabulary = model.value('vocab');
  // Unigram's is a list, in which a token's index is its id.
  if (Array.isArray(vocabulary)) return;
  if (!isJsonObject(vocabulary)) throw model.refusal('vocab', 'an object or a list');
  const taken = new Set<number>();
  for (const [token, id] of Object.entries(vocabulary)) {
    const name = `${model.source}: vocab of ${abbreviate(token)}`;
    if (!isTokenId(id))
      throw new EngineError('checkpoint_invalid', `${name} must be a token id, but is ${abbreviate(id)}`);
    if (taken.has(id)) throw new EngineError('checkpoint_invalid', `${name} is ${id}, which another token has too`);
    taken.add(id);
  }
}
