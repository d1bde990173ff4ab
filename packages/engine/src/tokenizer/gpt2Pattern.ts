import { isJsonObject, type JsonFields, type JsonObject } from '../checkpoint/jsonFields.js';

/** GPT-2's way to cut texts, from its encoder.py. */
const gpt2Pattern = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

/**
 * `tokenizer.json` with GPT-2's pattern written out where `ByteLevel` implies it. For the implied one the library uses
 * JavaScript's `\s`, which has U+FEFF and lacks U+0085. In written ones it puts the white space of `tokenizers`.
 */
export function withWrittenPattern(tokenizerJson: JsonFields): JsonObject {
  const { raw } = tokenizerJson;
  return { ...raw, pre_tokenizer: written(raw['pre_tokenizer']) };
}

function written(preTokenizer: unknown): unknown {
  if (!isJsonObject(preTokenizer)) return preTokenizer;
  const { type, pretokenizers, use_regex = true, add_prefix_space = false } = preTokenizer;
  if (type === 'Sequence' && Array.isArray(pretokenizers)) {
    return { ...preTokenizer, pretokenizers: pretokenizers.map(written) };
  }
  // A space before the text is part of what the pattern cuts, and no step adds one earlier.
  if (type !== 'ByteLevel' || use_regex !== true || add_prefix_space !== false) return preTokenizer;
  const split = { type: 'Split', pattern: { Regex: gpt2Pattern }, behavior: 'Isolated', invert: false };
  return { type: 'Sequence', pretokenizers: [split, { ...preTokenizer, use_regex: false }] };
}
