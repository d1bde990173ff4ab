/** The GGUF files of `fixtures/make_gguf_fixtures.py`, and what other programs read from them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatMessage } from '../types.js';
import { fixtureFolder } from './fixtures.js';

const ggufFolder = fixtureFolder('gguf');

export const ggufModels = ['llama', 'mistral', 'qwen2', 'qwen3', 'k-quants'] as const;

export function ggufFixture(name: string): string {
  return join(ggufFolder, name);
}

/** Results of `transformers`: encodings by the file's tokenizer, and the tokens whose logits it computed. */
export interface GgufReading {
  readonly tokens: readonly number[];
  readonly texts: readonly { readonly text: string; readonly ids: readonly number[] }[];
  readonly conversation: {
    readonly messages: readonly ChatMessage[];
    readonly rendered: string;
    readonly ids: readonly number[];
  };
}

export function ggufReading(name: string): GgufReading {
  return ggufJson(`${name}.json`) as GgufReading;
}

/** The content of a fixture, whose type the caller knows. */
export function ggufJson(name: string): unknown {
  return JSON.parse(readFileSync(ggufFixture(name), 'utf8'));
}
