import { loraName, PROJECTIONS, projectionName } from '../model/weights.js';
import type { DecoderConfig } from '../model/config.js';
import type { FlatMatrices } from './parameters.js';
import { subtractAlong, type SparedDirections } from './sparedDirections.js';

/** Where the directions hold nearly all, what is left is noise. */
const MAX_GROWTH = 4;

/**
 * Keeps the steps of a training out of some directions (Saha et al., "Gradient Projection Memory for Continual
 * Learning", arXiv:2103.09762): what A gives for an input along them stays what it was, and so, where that is nothing,
 * does the product.
 */
export class Sparing {
  private readonly parts: readonly {
    /** An A `[rank, width]`, as the optimizer changes it. */
    readonly matrix: Float32Array;
    readonly width: number;
    readonly directions: Float32Array;
    readonly share: number;
  }[];
  private readonly before: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly matrices: FlatMatrices,
    directions: SparedDirections,
  ) {
    const layers = Array.from({ length: config.layers }, (_, layer) => layer);
    const projections = layers.flatMap((layer) => PROJECTIONS.map((projection) => ({ layer, projection })));
    this.parts = projections.flatMap(({ layer, projection }) => {
      const matrix = matrices.matrices.get(loraName(layer, projection, 'A'));
      const found = directions.get(projectionName(layer, projection));
      if (matrix === undefined || found === undefined) return [];
      return [{ matrix: matrix.data, width: matrix.shape[1] ?? 1, directions: found.rows, share: found.share }];
    });
    this.before = new Float32Array(matrices.values.length);
  }

  /**
   * Takes away what the matrices have along the directions: those of a fresh adapter, which do nothing yet. They become
   * greater by what their inputs lose, so that the adapter learns as fast as it would.
   */
  clear(): void {
    for (const { matrix, width, directions, share } of this.parts) {
      const growth = Math.min(MAX_GROWTH, (1 - share) ** -0.5);
      for (let start = 0; start < matrix.length; start += width) {
        const row = matrix.subarray(start, start + width);
        subtractAlongAll(row, directions);
        for (let index = 0; index < width; index += 1) row[index] = (row[index] ?? 0) * growth;
      }
    }
  }

  /** Makes a step of the optimizer, but for what it would change along the directions. */
  step(change: () => void): void {
    const { values } = this.matrices;
    this.before.set(values);
    change();
    for (const { matrix, width, directions } of this.parts) {
      const start = (matrix.byteOffset - values.byteOffset) / Float32Array.BYTES_PER_ELEMENT;
      for (let row = 0; row < matrix.length; row += width) {
        const now = matrix.subarray(row, row + width);
        const then = this.before.subarray(start + row, start + row + width);
        addTo(now, then, -1);
        subtractAlongAll(now, directions);
        addTo(now, then, 1);
      }
    }
  }
}

function subtractAlongAll(row: Float32Array, directions: Float32Array): void {
  for (let start = 0; start < directions.length; start += row.length) {
    subtractAlong(row, directions.subarray(start, start + row.length));
  }
}

function addTo(row: Float32Array, other: Float32Array, factor: number): void {
  for (let index = 0; index < row.length; index += 1) row[index] = (row[index] ?? 0) + factor * (other[index] ?? 0);
}
