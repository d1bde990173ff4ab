/**
 * How a text is split before byte pairs are merged, by llama.cpp's name for each way (`tokenizer.ggml.pre`, see
 * `llm_tokenizer_bpe` of llama-vocab.cpp).
 */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';

export interface PreTokenizer {
  /** The `normalizer` of `tokenizer.json`. The file says nothing of it, so it is that of the models of this name. */
  readonly normalizer: JsonObject | null;
  /** The `pre_tokenizer` of `tokenizer.json`. */
  readonly json: JsonObject;
  /** Whether a piece that is a token becomes that token even if no merges lead to it. */
  readonly ignoreMerges: boolean;
}

const words = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`;
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const whiteSpace = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const upperCase = String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`;
const lowerCase = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`;

const llama3Pattern = String.raw`${contractions}|${words}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${whiteSpace}`;
const qwen2Pattern = String.raw`${contractions}|${words}|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${whiteSpace}`;
const tekkenPattern = [
  String.raw`[^\r\n\p{L}\p{N}]?[${upperCase}]*[${lowerCase}]+|[^\r\n\p{L}\p{N}]?[${upperCase}]+[${lowerCase}]*`,
  String.raw`\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${whiteSpace}`,
].join('|');

/** GPT-2's pattern, which the tokenizer library has built in. */
const gpt2Pattern: JsonObject = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

const gpt2: PreTokenizer = { normalizer: null, json: gpt2Pattern, ignoreMerges: false };
const llama3: PreTokenizer = { normalizer: null, json: splitBy(llama3Pattern), ignoreMerges: true };
const qwen2: PreTokenizer = { normalizer: { type: 'NFC' }, json: splitBy(qwen2Pattern), ignoreMerges: false };

const preTokenizers: Readonly<Record<string, PreTokenizer>> = {
  // Files from before May 2024 have no name. Later ones have this when the converter did not know.
  default: gpt2,
  'gpt-2': gpt2,
  // Each digit stands alone, so that white space before a number is a piece of its own.
  smollm: { ...gpt2, json: sequence([split(String.raw`\p{N}`), gpt2Pattern]) },
  'llama-bpe': llama3,
  llama3,
  'llama-v3': llama3,
  falcon3: llama3,
  'smaug-bpe': { ...llama3, ignoreMerges: false },
  tekken: { ...llama3, json: splitBy(tekkenPattern) },
  qwen2,
  'deepseek-r1-qwen': { ...qwen2, normalizer: null },
};

/** @throws EngineError `checkpoint_invalid` naming the field. */
export function readPreTokenizer(metadata: JsonFields): PreTokenizer {
  const name = 'tokenizer.ggml.pre';
  const value = metadata.string(name, 'default');
  const found = Object.hasOwn(preTokenizers, value) ? preTokenizers[value] : undefined;
  if (found === undefined) throw metadata.refusal(name, `one of ${Object.keys(preTokenizers).join(', ')}`);
  return found;
}

function splitBy(pattern: string): JsonObject {
  return sequence([split(pattern), { ...gpt2Pattern, use_regex: false }]);
}

function split(pattern: string): JsonObject {
  return { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
}

function sequence(pretokenizers: readonly JsonObject[]): JsonObject {
  return { type: 'Sequence', pretokenizers };
}
