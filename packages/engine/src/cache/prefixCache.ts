import { createHash } from 'node:crypto';

/**
 * How many tokens of a prompt are read in one run. Between two runs other requests get their turn, and prefixes are
 * reused in whole chunks. Larger chunks are read no faster, smaller ones more slowly.
 */
export const prefillChunk = 64;

/**
 * Where the chunk ends that begins at `start`. Chunks are counted from the beginning of a prompt and again from the end
 * of what it shares with others, so that a chunk ends there.
 */
export function chunkEnd(start: number, sharedTokens: number, chunkTokens = prefillChunk): number {
  const isShared = start < sharedTokens;
  const from = isShared ? 0 : sharedTokens;
  const end = from + chunkTokens * (Math.floor((start - from) / chunkTokens) + 1);
  return isShared ? Math.min(end, sharedTokens) : end;
}

/** Who may find an attention state. What is computed for one scope is never found from another. */
export interface PrefixScope {
  /** The caller's key. Calls with different keys share nothing. */
  readonly isolationKey: string;
  /** The adapter's verified content hash; null for the base model. */
  readonly adapterHash: string | null;
}

/** A whole chunk at the beginning of a prompt. */
export interface PrefixChunk {
  /** Covers the scope, all tokens up to the end of the chunk, and where the chunks before it end. */
  readonly key: string;
  /** The number of tokens up to its end. */
  readonly end: number;
}

/**
 * Every whole chunk at the beginning of `tokens`. The last token is left out, because without a token to read there
 * would be no logits.
 */
export function prefixChunks(
  scope: PrefixScope,
  tokens: readonly number[],
  sharedTokens = 0,
  chunkTokens = prefillChunk,
): readonly PrefixChunk[] {
  let key = sha256(JSON.stringify([scope.isolationKey, scope.adapterHash]));
  const chunks: PrefixChunk[] = [];
  for (let start = 0; ;) {
    const end = chunkEnd(start, sharedTokens, chunkTokens);
    if (end >= tokens.length) return chunks;
    key = sha256(`${key} ${tokens.slice(start, end).join()}`);
    chunks.push({ key, end });
    start = end;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

interface HeldChunk {
  readonly isolationKey: string;
  readonly state: Float32Array;
}

/**
 * Keys and values of the beginnings of prompts, chunk by chunk. The least recently used is dropped first. A chunk is
 * found only at the same place after the same tokens. As chunks are always read whole, it equals what would be
 * computed, to the last bit.
 */
export class PrefixCache {
  /**
   * Chunks in order of use, the latest last. A prompt's first chunk comes after its others, which are useless without
   * it.
   */
  private readonly chunks = new Map<string, HeldChunk>();
  private heldBytes = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.heldBytes;
  }

  /** The states of the known chunks from the first on, up to the first gap. */
  find(keys: readonly string[]): readonly Float32Array[] {
    const states: Float32Array[] = [];
    for (const key of keys) {
      const held = this.chunks.get(key);
      if (held === undefined) break;
      states.push(held.state);
    }
    this.touch(keys.slice(0, states.length));
    return states;
  }

  /** Keeps the state of the last of `keys`. The keys before it stand for the beginning of its prompt. */
  add(isolationKey: string, keys: readonly string[], state: Float32Array): void {
    const key = keys.at(-1);
    if (key === undefined || state.byteLength > this.maxBytes) return;
    this.drop(key);
    this.chunks.set(key, { isolationKey, state });
    this.heldBytes += state.byteLength;
    this.touch(keys);
    for (const oldest of this.chunks.keys()) {
      if (this.heldBytes <= this.maxBytes) break;
      this.drop(oldest);
    }
  }

  /** Drops everything that was computed for this key. */
  forget(isolationKey: string): void {
    for (const [key, held] of this.chunks) if (held.isolationKey === isolationKey) this.drop(key);
  }

  private drop(key: string): void {
    this.heldBytes -= this.chunks.get(key)?.state.byteLength ?? 0;
    this.chunks.delete(key);
  }

  private touch(keys: readonly string[]): void {
    for (const key of [...keys].reverse()) {
      const held = this.chunks.get(key);
      if (held === undefined) continue;
      this.chunks.delete(key);
      this.chunks.set(key, held);
    }
  }
}
