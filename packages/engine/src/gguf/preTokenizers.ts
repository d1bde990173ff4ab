/**
 * How a text is cut before byte pairs are merged, by the name that llama.cpp gives to each way (`tokenizer.ggml.pre`,
 * see `llm_tokenizer_bpe` of llama-vocab.cpp).
 */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';

export interface PreTokenizer {
  /** `pre_tokenizer` of `tokenizer.json`. */
  readonly json: JsonObject;
  /** A piece that is a token is that token, whether merges lead there or not. */
  readonly ignoreMerges: boolean;
}

const WORDS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`;
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const WHITE_SPACE = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const UPPER = String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`;
const LOWER = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`;

const LLAMA_3 = String.raw`${CONTRACTIONS}|${WORDS}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${WHITE_SPACE}`;
const QWEN_2 = String.raw`${CONTRACTIONS}|${WORDS}|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${WHITE_SPACE}`;
const TEKKEN = [
  String.raw`[^\r\n\p{L}\p{N}]?[${UPPER}]*[${LOWER}]+|[^\r\n\p{L}\p{N}]?[${UPPER}]+[${LOWER}]*`,
  String.raw`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${WHITE_SPACE}`,
].join('|');

/** GPT-2's pattern is the tokenizer library's own. */
const GPT_2: JsonObject = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

const gpt2: PreTokenizer = { json: GPT_2, ignoreMerges: false };
const llama3: PreTokenizer = { json: splitBy(LLAMA_3), ignoreMerges: true };
const qwen2: PreTokenizer = { json: splitBy(QWEN_2), ignoreMerges: false };

const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  // Files of before May 2024 say nothing, and later ones this where the converter did not know.
  default: gpt2,
  'gpt-2': gpt2,
  // Each digit alone, so that white space before a number is a piece of its own.
  smollm: { json: sequence([split(String.raw`\p{N}`), GPT_2]), ignoreMerges: false },
  'llama-bpe': llama3,
  llama3,
  'llama-v3': llama3,
  falcon3: llama3,
  'smaug-bpe': { ...llama3, ignoreMerges: false },
  tekken: { json: splitBy(TEKKEN), ignoreMerges: true },
  qwen2,
  'deepseek-r1-qwen': qwen2,
};

/** @throws EngineError `checkpoint_invalid` naming the field. */
export function readPreTokenizer(metadata: JsonFields): PreTokenizer {
  const name = 'tokenizer.ggml.pre';
  const value = metadata.string(name, 'default');
  const found = Object.hasOwn(PRE_TOKENIZERS, value) ? PRE_TOKENIZERS[value] : undefined;
  if (found === undefined) throw metadata.refusal(name, `one of ${Object.keys(PRE_TOKENIZERS).join(', ')}`);
  return found;
}

function splitBy(pattern: string): JsonObject {
  return sequence([split(pattern), { ...GPT_2, use_regex: false }]);
}

function split(pattern: string): JsonObject {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

function sequence(pretokenizers: readonly JsonObject[]): JsonObject {
  return { type: 'Sequence', pretokenizers };
}
