import { loraName, projectionKinds, projectionName } from '../model/weights.js';
import type { DecoderConfig } from '../model/config.js';
import type { FlatMatrices } from './parameters.js';
import { subtractAlong, type ProtectedDirections } from './protectedDirections.js';

/** If the directions hold nearly all of the input, the rest is noise and must not be amplified further. */
const maxGrowth = 4;

/**
 * Keeps optimizer steps out of the protected directions (Saha et al., "Gradient Projection Memory for Continual
 * Learning", arXiv:2103.09762). What A gives for an input along them stays as it was. If that was nothing, the product
 * stays nothing, too.
 */
export class UpdateProjection {
  private readonly parts: readonly {
    /** One A `[rank, width]`, in the optimizer's memory. */
    readonly matrix: Float32Array;
    readonly width: number;
    readonly directions: Float32Array;
    readonly share: number;
  }[];
  private readonly before: Float32Array;

  constructor(
    config: DecoderConfig,
    private readonly matrices: FlatMatrices,
    directions: ProtectedDirections,
  ) {
    const layers = Array.from({ length: config.layers }, (_, layer) => layer);
    const projections = layers.flatMap((layer) => projectionKinds.map((projection) => ({ layer, projection })));
    this.parts = projections.flatMap(({ layer, projection }) => {
      const matrix = matrices.matrices.get(loraName(layer, projection, 'A'));
      const found = directions.get(projectionName(layer, projection));
      if (matrix === undefined || found === undefined) return [];
      return [{ matrix: matrix.data, width: matrix.shape[1] ?? 1, directions: found.rows, share: found.share }];
    });
    this.before = new Float32Array(matrices.values.length);
  }

  /**
   * Removes the parts of the matrices along the directions. Meant for a fresh adapter, whose matrices do nothing yet.
   * Scales up the rest by what the inputs lose, so that the adapter learns as fast as without protection.
   */
  clearDirections(): void {
    for (const { matrix, width, directions, share } of this.parts) {
      const growth = Math.min(maxGrowth, (1 - share) ** -0.5);
      for (let start = 0; start < matrix.length; start += width) {
        const row = matrix.subarray(start, start + width);
        subtractAlongAll(row, directions);
        for (let index = 0; index < width; index += 1) row[index] = (row[index] ?? 0) * growth;
      }
    }
  }

  /** Applies an optimizer step, except for its part along the directions. */
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
