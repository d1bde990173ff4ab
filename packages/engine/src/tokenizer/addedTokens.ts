import type { JsonFields } from '../checkpoint/jsonFields.js';
import { isJsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { isTokenId } from './vocabulary.js';

/** A token that `tokenizer.json` lists besides the model's vocabulary, matched as one piece of text. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /**
   * `control` tokens structure the conversation, such as the end of a turn. Only the template and the model write them.
   * `markup` such as `<tool_call>` is the model's own syntax. The assistant and the application write it, users do not.
   * A `word` is ordinary text, whoever writes it.
   */
  readonly kind: 'control' | 'markup' | 'word';
  /** Whether the word is searched in normalised text, in its own normalised form. */
  readonly normalized: boolean;
  /** Whether letters or digits beside it make it part of another word. */
  readonly singleWord: boolean;
  /** Whether the token swallows the white space on its left or right. */
  readonly stripsLeft: boolean;
  readonly stripsRight: boolean;
}

/** Qwen's markup. Some tokenizers declare it special, some do not. The assistant writes it as text. */
export const markupTokens: ReadonlySet<string> = new Set(
  ['think', 'tool_call', 'tool_response'].flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
);

/** Text that looks like any model's syntax. */
const markupPattern = /<.*>|\[.*\]|｜/su;

/** @param isNamed whether the checkpoint uses the token by name. Such a token is no word, whatever it looks like. */
export function readAddedTokens(
  tokenizerJson: JsonFields,
  isNamed: (token: { readonly id: number; readonly content: string }) => boolean,
): readonly AddedToken[] {
  const list = tokenizerJson.value('added_tokens') ?? [];
  if (!Array.isArray(list)) throw tokenizerJson.refusal('added_tokens', 'a list');
  return list.map((entry: unknown, index) => {
    const name = `added_tokens[${index}]`;
    if (!isJsonObject(entry)) throw invalid(tokenizerJson, `${name} must be an object`);
    const { id, content } = entry;
    if (!isTokenId(id)) {
      throw invalid(tokenizerJson, `${name}.id must be a token id`);
    }
    if (typeof content !== 'string' || content === '') {
      throw invalid(tokenizerJson, `${name}.content must be a text that is not empty`);
    }
    const isControl = entry['special'] === true && !markupTokens.has(content);
    const isSyntax = isControl || markupPattern.test(content) || isNamed({ id, content });
    // A single character could not be told apart from the same character in a message.
    if (isSyntax && content.length < 2) {
      throw invalid(tokenizerJson, `${name}.content must be a text of at least two characters, as it is no plain word`);
    }
    return {
      id,
      content,
      kind: isControl ? 'control' : isSyntax ? 'markup' : 'word',
      normalized: entry['normalized'] !== false,
      singleWord: entry['single_word'] === true,
      stripsLeft: entry['lstrip'] === true,
      stripsRight: entry['rstrip'] === true,
    };
  });
}

function invalid(source: JsonFields, message: string): EngineError {
  return new EngineError('checkpoint_invalid', `${source.source}: ${message}`);
}
