import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';

/** A model's vocabulary may be padded beyond the tokenizer's, but must not be smaller. */
export function requireVocabulary(
  tokenizer: ChatTokenizer,
  { vocabularySize }: Pick<DecoderConfig, 'vocabularySize'>,
): void {
  const needed = [...tokenizer.stopTokens].reduce((most, id) => Math.max(most, id + 1), tokenizer.vocabularySize);
  if (needed <= vocabularySize) return;
  throw new EngineError(
    'checkpoint_invalid',
    `config.json: vocab_size is ${vocabularySize}, but the tokenizer uses ${needed} tokens`,
  );
}
