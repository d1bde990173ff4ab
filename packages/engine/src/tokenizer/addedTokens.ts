import type { JsonFields } from '../checkpoint/jsonFields.js';
import { isJsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { isTokenId } from './vocabulary.js';

/** A token that `tokenizer.json` lists beside the model's own vocabulary, matched as one piece of text. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /**
   * Control tokens structure the conversation, such as the end of a turn; nobody writes them but the template and the
   * model. The others are part of what is written: markup such as `<tool_call>`, or frequent words.
   */
  readonly control: boolean;
  /** The token swallows the white space on its left (right). */
  readonly stripsLeft: boolean;
  readonly stripsRight: boolean;
}

/** Qwen's markup, which some tokenizers declare special and some do not. The assistant writes it as text. */
const MARKUP: ReadonlySet<string> = new Set(
  ['think', 'tool_call', 'tool_response'].flatMap((tag) => [`<${tag}>`, `</${tag}>`]),
);

export function readAddedTokens(tokenizerJson: JsonFields): readonly AddedToken[] {
  const list = tokenizerJson.value('added_tokens') ?? [];
  if (!Array.isArray(list)) throw tokenizerJson.refusal('added_tokens', 'a list');
  return list.map((entry: unknown, index) => {
    const name = `added_tokens[${index}]`;
    if (!isJsonObject(entry)) throw invalid(tokenizerJson, `${name} must be an object`);
    const { id, content } = entry;
    if (!isTokenId(id)) {
      throw invalid(tokenizerJson, `${name}.id must be a token id`);
    }
    // A token of one character could not be told apart from the same character in a message.
    if (typeof content !== 'string' || content.length < 2) {
      throw invalid(tokenizerJson, `${name}.content must be a text of at least two characters`);
    }
    return {
      id,
      content,
      control: entry['special'] === true && !MARKUP.has(content),
      stripsLeft: entry['lstrip'] === true,
      stripsRight: entry['rstrip'] === true,
    };
  });
}

function invalid(source: JsonFields, message: string): EngineError {
  return new EngineError('checkpoint_invalid', `${source.source}: ${message}`);
}

/** A pattern that finds any of `tokens`, the longest where several begin; `undefined` for none. */
export function tokenPattern(tokens: readonly AddedToken[]): RegExp | undefined {
  if (tokens.length === 0) return undefined;
  const contents = tokens.map((token) => token.content).sort((a, b) => b.length - a.length);
  return new RegExp(contents.map((content) => content.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
}
