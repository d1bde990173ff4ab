import { createHash } from 'node:crypto';
import type { GenerationJob } from '../scheduling/generationJob.js';

/**
 * Tokens of a prompt that are read in one run. Between two of them other requests get their turn, and a beginning is
 * reused in whole chunks: larger ones are read no faster, smaller ones are.
 */
export const prefillChunk = 64;

/** Whose attention state it is: what is computed for one scope is never found from another. */
export interface PrefixScope {
  /** The caller's key: calls with different keys share nothing. */
  readonly isolationKey: string;
  /** The adapter's hash, against which its content was verified; null for the base model. */
  readonly adapterHash: string | null;
}

/**
 * A key for every whole chunk at the beginning of `tokens`, the last token left out: something must remain to be read,
 * or there would be no logits. Each key covers the scope and all tokens up to the chunk's end.
 */
export function prefixKeys(scope: PrefixScope, tokens: readonly number[], chunkTokens: number): readonly string[] {
  let previous = sha256(JSON.stringify([scope.isolationKey, scope.adapterHash]));
  const keys: string[] = [];
  for (let end = chunkTokens; end < tokens.length; end += chunkTokens) {
    previous = sha256(`${previous} ${tokens.slice(end - chunkTokens, end).join()}`);
    keys.push(previous);
  }
  return keys;
}

/** Forced tokens are left out: what is reused is part of the prompt. Without an isolation key there are none. */
export function prefixKeysOf({ prompt, isolationKey, adapter }: GenerationJob): readonly string[] {
  if (isolationKey === undefined) return [];
  return prefixKeys({ isolationKey, adapterHash: adapter?.contentHash ?? null }, prompt, prefillChunk);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/**
 * Keys and values of prompts' beginnings, chunk by chunk, the least recently used dropped first. A chunk is found again
 * only at the same place after the same tokens, and as chunks are always read whole, what is found is to the last
 * bit what would be computed.
 */
export class PrefixCache {
  /**
   * Chunks in order of use, the latest last. A prompt's first chunk comes after its others, which are worth nothing
   * without it.
   */
  private readonly chunks = new Map<string, Float32Array>();
  private heldBytes = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.heldBytes;
  }

  /** The states of the chunks known from the first on, without a gap. */
  find(keys: readonly string[]): readonly Float32Array[] {
    const states: Float32Array[] = [];
    for (const key of keys) {
      const state = this.chunks.get(key);
      if (state === undefined) break;
      states.push(state);
    }
    this.touch(keys.slice(0, states.length));
    return states;
  }

  /** Keeps the state of the last of `keys`, those before it being its prompt's beginning. */
  add(keys: readonly string[], state: Float32Array): void {
    const key = keys.at(-1);
    if (key === undefined || state.byteLength > this.maxBytes) return;
    this.heldBytes += state.byteLength - (this.chunks.get(key)?.byteLength ?? 0);
    this.chunks.set(key, state);
    this.touch(keys);
    for (const [oldest, { byteLength }] of this.chunks) {
      if (this.heldBytes <= this.maxBytes) break;
      this.chunks.delete(oldest);
      this.heldBytes -= byteLength;
    }
  }

  private touch(keys: readonly string[]): void {
    for (const key of [...keys].reverse()) {
      const state = this.chunks.get(key);
      if (state === undefined) continue;
      this.chunks.delete(key);
      this.chunks.set(key, state);
    }
  }
}
