/** Packs sequences of different lengths into the rows of a matrix, several to a row, with little padding. */
import type { DecoderConfig } from '../model/config.js';
import { projectionWeightCount } from '../model/weights.js';
import { sum } from '../support/numbers.js';

export interface PackedRows {
  readonly rows: number;
  /** Tokens of a row, padding included. */
  readonly length: number;
  /** Where each sequence begins, in the order of the lengths given. */
  readonly places: readonly { readonly row: number; readonly offset: number }[];
}

/** The most padding accepted in exchange for shorter rows, as a share. */
const maxWaste = 0.15;
/** Row lengths to try, as multiples of the longest sequence. */
const rowLengthFactors = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4] as const;

/**
 * Chooses the layout with the fewest multiplications among those with little padding, or the one with the least
 * padding. Rows are at most `contextLength` long, like the rotary tables.
 * @param lengths tokens of each sequence, at least one sequence.
 */
export function packRows(lengths: readonly number[], config: DecoderConfig): PackedRows {
  const tokens = sum(lengths);
  const waste = ({ rows, length }: PackedRows) => 1 - tokens / (rows * length);
  const limits = rowLengthFactors.map((stretch) =>
    Math.min(config.contextLength, Math.floor(stretch * Math.max(...lengths))),
  );
  const layouts = [...new Set(limits)].flatMap((limit) => {
    const filled = fillRows(lengths, limit);
    const balanced = spreadOver(lengths, filled.rows);
    return balanced.length <= limit ? [balanced, filled] : [filled];
  });
  const frugal = layouts.filter((layout) => waste(layout) <= maxWaste);
  const costOf = frugal.length > 0 ? (layout: PackedRows) => layerCost(layout, config) : waste;
  return (frugal.length > 0 ? frugal : layouts).reduce((best, layout) =>
    costOf(layout) < costOf(best) ? layout : best,
  );
}

/** Multiplications of a layer and step: linear in the tokens for its matrices, quadratic for its attention. */
export function layerCost({ rows, length }: Pick<PackedRows, 'rows' | 'length'>, config: DecoderConfig): number {
  return rows * length * (2 * projectionWeightCount(config) + 6 * config.heads * config.headDim * length);
}

/**
 * First-fit decreasing: from long to short, each sequence goes to the row of at most `limit` tokens where the least
 * space is left.
 */
function fillRows(lengths: readonly number[], limit: number): PackedRows {
  const loads: number[] = [];
  return place(lengths, loads, (length) => {
    let best = -1;
    for (const [row, load] of loads.entries()) {
      if (load + length <= limit && (best === -1 || load > (loads[best] ?? 0))) best = row;
    }
    return best === -1 ? loads.push(0) - 1 : best;
  });
}

/**
 * Spreads the sequences over `rows` rows of about the same load. From long to short, each goes to the row with the
 * least.
 */
function spreadOver(lengths: readonly number[], rows: number): PackedRows {
  const loads = Array.from({ length: rows }, () => 0);
  return place(lengths, loads, () => loads.indexOf(Math.min(...loads)));
}

/** Puts each sequence at the end of the row that `choose` returns. `loads` are the tokens of each row so far. */
function place(lengths: readonly number[], loads: number[], choose: (length: number) => number): PackedRows {
  const order = lengths.map((length, index) => ({ length, index })).sort((a, b) => b.length - a.length);
  const places = new Array<PackedRows['places'][number]>(lengths.length);
  for (const { length, index } of order) {
    const row = choose(length);
    const offset = loads[row] ?? 0;
    places[index] = { row, offset };
    loads[row] = offset + length;
  }
  return { rows: loads.length, length: Math.max(...loads), places };
}
