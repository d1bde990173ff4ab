import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { numbers, type GgufToken } from './vocabulary.js';

const spaceMarker = '▁';
const key = (name: string): string => `tokenizer.ggml.${name}`;

/**
 * The parts of `tokenizer.json` that depend on its kind, for SentencePiece's byte pairs (`tokenizer.ggml.model` is
 * `llama`). They are those of Llama 2, TinyLlama and the first Mistrals: a space before each text, also after a control
 * token, and bytes for characters without a token.
 */
export function sentencePieceModel(
  metadata: JsonFields,
  given: readonly GgufToken[],
  unknown: string | undefined,
): JsonObject {
  if (metadata.boolean(key('remove_extra_whitespaces'), false)) {
    throw metadata.refusal(key('remove_extra_whitespaces'), 'absent or false');
  }
  if (metadata.has(key('precompiled_charsmap'))) throw metadata.refusal(key('precompiled_charsmap'), 'absent');
  const spaceBefore = metadata.boolean(key('add_space_prefix'), true);
  // The header's parser strips byte-order marks. No other token is empty.
  const tokens = given.map((token) => (token.text === '' ? { ...token, text: '\uFEFF' } : token));
  const scores = numbers(metadata, 'scores', metadata.strings(key('tokens')).length);
  if (scores === undefined) throw metadata.refusal(key('scores'), 'a list of numbers');
  const marked = { type: 'Replace', pattern: { String: ' ' }, content: spaceMarker };
  const replaced = { type: 'Replace', pattern: { String: spaceMarker }, content: ' ' };
  const decoders = [replaced, { type: 'ByteFallback' }, { type: 'Fuse' }];
  return {
    normalizer: {
      type: 'Sequence',
      normalizers: spaceBefore ? [{ type: 'Prepend', prepend: spaceMarker }, marked] : [marked],
    },
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: spaceBefore ? [...decoders, { type: 'Strip', content: ' ', start: 1, stop: 0 }] : decoders,
    },
    model: {
      ...{ type: 'BPE', dropout: null, continuing_subword_prefix: null, end_of_word_suffix: null },
      unk_token: unknown ?? null,
      ...{ fuse_unk: true, byte_fallback: true, ignore_merges: false },
      vocab: Object.fromEntries(tokens.map(({ text, id }) => [text, id])),
      merges: mergesByScore(tokens, scores),
    },
  };
}

/**
 * All pairs of tokens that form a token, best scores first, like `generate_merges` of `transformers`. Control tokens
 * and byte tokens are never formed from letters.
 */
function mergesByScore(tokens: readonly GgufToken[], scores: readonly number[]): readonly (readonly string[])[] {
  const written = tokens.filter(({ isControl, isByte }) => !isControl && !isByte);
  const ids = new Map(written.map(({ text, id }) => [text, id]));
  const merges = [...ids].flatMap(([text, id]) => {
    const letters = Array.from(text);
    const cuts = letters.slice(1).map((_, index) => {
      const [left, right] = [letters.slice(0, index + 1).join(''), letters.slice(index + 1).join('')];
      return { left, right, leftLength: index + 1, rightLength: letters.length - index - 1, score: scores[id] ?? 0 };
    });
    return cuts
      .filter(({ left, right }) => ids.has(left) && ids.has(right))
      .sort((a, b) => (ids.get(a.left) ?? 0) - (ids.get(b.left) ?? 0));
  });
  return merges
    .sort((a, b) => b.score - a.score || b.leftLength - a.leftLength || b.rightLength - a.rightLength)
    .map(({ left, right }) => [left, right]);
}
