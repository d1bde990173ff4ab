/** The tokens of a GGUF file and their kinds. */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { isTokenId } from '../tokenizer/vocabulary.js';
import type { SpecialIds } from './ggufConfig.js';

/** `llama_token_type` of https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h. */
const [normalToken, unknownToken, controlToken, userDefinedToken, unusedToken, byteToken] = [1, 2, 3, 4, 5, 6];

/** Real tokens have at most a few hundred characters. One of millions would be split into all its parts. */
const maxTokenLength = 2048;

export interface GgufToken {
  readonly id: number;
  readonly text: string;
  /** Neither special nor added later, and neither a byte nor unused. */
  readonly isOrdinary: boolean;
  /** Stands for a byte that has no other token. */
  readonly isByte: boolean;
  /** Structures a conversation. Nobody writes it. */
  readonly isControl: boolean;
  /** Found whole wherever it occurs. */
  readonly isAdded: boolean;
}

export interface GgufVocabulary {
  readonly tokens: readonly GgufToken[];
  readonly ids: SpecialIds;
  /** Texts of tokens by names such as `eos_token`, as in `tokenizer_config.json`. */
  readonly named: Readonly<Record<string, string>>;
}

const key = (name: string): string => `tokenizer.ggml.${name}`;

/** @throws EngineError `checkpoint_invalid` naming the field. */
export function readVocabulary(metadata: JsonFields, vocabularySize: number): GgufVocabulary {
  const texts = metadata.strings(key('tokens'));
  if (texts.length > vocabularySize) {
    const message = `${key('tokens')} has ${texts.length} tokens, but the model only ${vocabularySize}`;
    throw new EngineError('checkpoint_invalid', `${metadata.source}: ${message}`);
  }
  const kinds = numbers(metadata, 'token_type', texts.length) ?? texts.map(() => normalToken);
  const idOf = (name: string): number | undefined => readId(metadata, key(name), texts.length);
  const eos = ['eos_token_id', 'eot_token_id', 'eom_token_id'].map(idOf).filter((id) => id !== undefined);
  const ids: SpecialIds = { bos: idOf('bos_token_id'), eos: [...new Set(eos)], pad: idOf('padding_token_id') };
  // Old files mark the end of a text as an ordinary word.
  const special = new Set([ids.bos, ...ids.eos]);
  const tokens = texts.slice(0, usedLength(kinds)).map((text, id): GgufToken => {
    if (text.length > maxTokenLength) {
      const message = `${key('tokens')}[${id}] has ${text.length} characters; at most ${maxTokenLength} are read`;
      throw new EngineError('checkpoint_invalid', `${metadata.source}: ${message}`);
    }
    const kind = special.has(id) ? controlToken : kinds[id];
    return {
      ...{ id, text },
      isOrdinary: kind === normalToken,
      isByte: kind === byteToken,
      isControl: kind === controlToken || kind === unknownToken,
      isAdded: kind === controlToken || kind === unknownToken || kind === userDefinedToken,
    };
  });
  return { tokens, ids, named: namesOf(tokens, { ...ids, unknown: idOf('unknown_token_id') }) };
}

/** A list of numbers in the metadata, one for each token. */
export function numbers(metadata: JsonFields, name: string, length: number): readonly number[] | undefined {
  const value = metadata.value(key(name));
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length !== length || !value.every((each) => typeof each === 'number')) {
    throw metadata.refusal(key(name), `${length} numbers, one for each token`);
  }
  return value;
}

/** Converters pad the vocabulary to the model's size with tokens that stand for nothing. */
function usedLength(kinds: readonly number[]): number {
  return kinds.findLastIndex((kind) => kind !== unusedToken) + 1;
}

function readId(metadata: JsonFields, name: string, length: number): number | undefined {
  const value = metadata.value(name);
  // llama.cpp writes this for "none".
  if (value === undefined || value === 2 ** 32 - 1) return undefined;
  if (isTokenId(value) && value < length) return value;
  throw metadata.refusal(name, `the id of one of ${length} tokens`);
}

/** Names only special tokens. Converters give an unknown token, for instance, to vocabularies without one. */
function namesOf(
  tokens: readonly GgufToken[],
  { bos, eos, pad, unknown }: SpecialIds & { readonly unknown: number | undefined },
): Readonly<Record<string, string>> {
  const ids = { bos_token: bos, eos_token: eos[0], pad_token: pad, unk_token: unknown };
  return Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => {
      const token = id === undefined ? undefined : tokens[id];
      return token?.isAdded === true ? [[name, token.text]] : [];
    }),
  );
}

/** The `added_tokens` of `tokenizer.json`. */
export function addedTokens(tokens: readonly GgufToken[]): readonly JsonObject[] {
  return tokens
    .filter(({ isAdded }) => isAdded)
    .map(({ id, text, isControl }) => ({
      ...{ id, content: text, single_word: false, lstrip: false, rstrip: false, normalized: false },
      special: isControl,
    }));
}
