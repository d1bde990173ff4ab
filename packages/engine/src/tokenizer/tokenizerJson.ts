/** The two token lists of `tokenizer.json`, before they are checked. */
import { isJsonObject, JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';
import { isTokenId } from './vocabulary.js';

/** An entry of `added_tokens`. */
export type ListedToken = JsonObject & { readonly id: number; readonly content: string };

/** The valid entries of `added_tokens`. `readAddedTokens` refuses the others. */
export function addedTokens(tokenizerJson: JsonFields): readonly ListedToken[] {
  return listOf(tokenizerJson).filter(isListedToken);
}

export function withAddedTokens(
  tokenizerJson: JsonFields,
  change: (tokens: readonly unknown[]) => readonly unknown[],
): JsonFields {
  return new JsonFields(tokenizerJson.source, { ...tokenizerJson.raw, added_tokens: change(listOf(tokenizerJson)) });
}

export function isListedToken(value: unknown): value is ListedToken {
  return isJsonObject(value) && isTokenId(value['id']) && typeof value['content'] === 'string';
}

/** Ids of the model's own vocabulary. Unigram's is a list, in which a token's index is its id. */
export function vocabularyIds(tokenizerJson: JsonFields): ReadonlyMap<string, number> {
  const vocabulary: unknown = tokenizerJson.nested('model')?.value('vocab');
  const entries: readonly (readonly unknown[])[] = Array.isArray(vocabulary)
    ? vocabulary.map((item: unknown, id) => [[item].flat()[0], id])
    : Object.entries(isJsonObject(vocabulary) ? vocabulary : {});
  return new Map(entries.filter(isEntry));
}

function isEntry(entry: readonly unknown[]): entry is readonly [string, number] {
  return typeof entry[0] === 'string' && isTokenId(entry[1]);
}

function listOf(tokenizerJson: JsonFields): readonly unknown[] {
  const list: unknown = tokenizerJson.value('added_tokens') ?? [];
  if (!Array.isArray(list)) throw tokenizerJson.refusal('added_tokens', 'a list');
  return list;
}
