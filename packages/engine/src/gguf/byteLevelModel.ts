import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { abbreviate } from '../support/abbreviate.js';
import { EngineError } from '../engine.js';
import { readPreTokenizer } from './preTokenizers.js';
import type { GgufToken } from './vocabulary.js';

const mergesField = 'tokenizer.ggml.merges';

/**
 * The parts of `tokenizer.json` that depend on its kind, for byte pairs in GPT-2's alphabet (`tokenizer.ggml.model` is
 * `gpt2`). In that alphabet every byte is a visible character.
 */
export function byteLevelModel(metadata: JsonFields, tokens: readonly GgufToken[]): JsonObject {
  const { normalizer, json, ignoreMerges } = readPreTokenizer(metadata);
  const vocabulary = new Map(tokens.map((token) => [token.isOrdinary ? spelled(token.text) : token.text, token.id]));
  const refusal = (index: number, merge: string): EngineError =>
    new EngineError(
      'checkpoint_invalid',
      `${metadata.source}: ${mergesField}[${index}] must be two tokens that make a third one, but is ${abbreviate(merge)}`,
    );
  const merges = metadata.strings(mergesField).map((merge, index) => {
    const [left, right, ...more] = merge.split(' ');
    if (left === undefined || right === undefined || more.length > 0) throw refusal(index, merge);
    if (![left, right, left + right].every((token) => vocabulary.has(token))) throw refusal(index, merge);
    return [left, right];
  });
  return {
    normalizer,
    pre_tokenizer: json,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: ignoreMerges },
      vocab: Object.fromEntries(vocabulary),
      merges,
    },
  };
}

/** GPT-2's characters by their bytes, as `bytes_to_unicode` of its encoder.py gives them. */
const byteAlphabet = alphabet();
const letters = new Set(byteAlphabet);

/** Some converters write later additions to the vocabulary unchanged. */
function spelled(token: string): string {
  if (Array.from(token).every((letter) => letters.has(letter))) return token;
  return [...Buffer.from(token)].map((byte) => byteAlphabet[byte] ?? '').join('');
}

function alphabet(): readonly string[] {
  const isSeen = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isSeen(byte) ? byte : next++));
}
