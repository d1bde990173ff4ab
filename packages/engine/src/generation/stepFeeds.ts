/** What the inference graph is told of the tokens of a run, besides the cache and the adapters. */
import { Tensor } from 'onnxruntime-node';
import { boundsName } from '../model/cachedOperations.js';
import { layerWindow, type DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';

/** Bounds of the score of a token that may not be seen, whose weight is then exactly 0, and of one that may. */
const HIDDEN = -1e9;
const SEEN = Infinity;

/** What one sequence is given. */
export interface StepRow {
  /** At least one. */
  readonly tokens: readonly number[];
  /** Tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
}

/**
 * The inputs `ids`, `positions`, `last`, `lengths` and `bounds` of `buildInferenceGraph`. They are made here rather than computed by the graph, where
 * they would take some twenty nodes: starting one takes microseconds.
 * @param capacity tokens of each sequence that the cache has room for
 */
export function stepFeeds(config: DecoderConfig, rows: readonly StepRow[], capacity: number): Feeds {
  const width = Math.max(...rows.map(({ tokens }) => tokens.length));
  const ids = new BigInt64Array(rows.length * width);
  const positions = new BigInt64Array(rows.length * width);
  const last = new BigInt64Array(rows.length);
  for (const [row, { tokens, cachedTokens }] of rows.entries()) {
    const start = row * width;
    for (const [index, token] of tokens.entries()) ids[start + index] = BigInt(token);
    for (let index = 0; index < width; index += 1) positions[start + index] = BigInt(cachedTokens + index);
    last[row] = BigInt(start + tokens.length - 1);
  }
  const windows = new Set(Array.from({ length: config.layers }, (_, layer) => layerWindow(config, layer)));
  const bounds = Array.from(windows, (window) => {
    const data = scoreBounds(rows, width, capacity, window);
    return [boundsName(window), new Tensor('float32', data, [rows.length, 1, width, capacity + width])] as const;
  });
  return {
    ids: new Tensor('int64', ids, [rows.length, width]),
    positions: new Tensor('int64', positions, [rows.length, width]),
    last: new Tensor('int64', last, [rows.length, 1]),
    lengths: new Tensor('int64', BigInt64Array.of(BigInt(capacity), BigInt(width)), [2]),
    ...Object.fromEntries(bounds),
  };
}

/**
 * `[rows, width, capacity + width]`: hides what lies beyond a sequence's end in the cache, what is ahead, and what lies `window` tokens or
 * more behind unless that is null.
 */
function scoreBounds(
  rows: readonly StepRow[],
  width: number,
  capacity: number,
  window: number | null,
): Float32Array<ArrayBuffer> {
  const keys = capacity + width;
  const bounds = new Float32Array(rows.length * width * keys).fill(HIDDEN);
  for (const [row, { cachedTokens }] of rows.entries()) {
    for (let index = 0; index < width; index += 1) {
      const start = (row * width + index) * keys;
      const behind = window === null ? Infinity : window - 1;
      bounds.fill(SEEN, start + Math.max(0, cachedTokens + index - behind), start + cachedTokens);
      bounds.fill(SEEN, start + capacity + Math.max(0, index - behind), start + capacity + index + 1);
    }
  }
  return bounds;
}
