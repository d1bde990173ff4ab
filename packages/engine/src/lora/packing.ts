/** Laying sequences of unlike length into the rows of a matrix, several to a row, so that little of it is padding. */
import type { DecoderConfig } from '../model/config.js';
import { PROJECTIONS, projectionShape } from '../model/weights.js';

export interface PackedRows {
  readonly rows: number;
  /** Tokens of a row, padding included. */
  readonly length: number;
  /** Where each sequence begins, in the order of the lengths given. */
  readonly places: readonly { readonly row: number; readonly offset: number }[];
}

/** The share of padding that is put up with for shorter rows. */
const MAX_WASTE = 0.15;
/** Row lengths that are tried, as multiples of the longest sequence. */
const STRETCHES = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4] as const;

/**
 * The cheapest of several layouts by the multiplications that it takes, of those with little padding if there are any.
 * Rows are at most `contextLength` long, because the rotary tables are.
 * @param lengths tokens of each sequence, at least one sequence.
 */
export function packRows(lengths: readonly number[], config: DecoderConfig): PackedRows {
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const waste = ({ rows, length }: PackedRows) => 1 - tokens / (rows * length);
  const limits = STRETCHES.map((stretch) => Math.min(config.contextLength, Math.floor(stretch * Math.max(...lengths))));
  const layouts = [...new Set(limits)].flatMap((limit) => {
    const filled = fillRows(lengths, limit);
    const balanced = spreadOver(lengths, filled.rows);
    return balanced.length <= limit ? [balanced, filled] : [filled];
  });
  const frugal = layouts.filter((layout) => waste(layout) <= MAX_WASTE);
  const costOf = frugal.length > 0 ? (layout: PackedRows) => workOf(layout, config) : waste;
  return (frugal.length > 0 ? frugal : layouts).reduce((best, layout) =>
    costOf(layout) < costOf(best) ? layout : best,
  );
}

/** Multiplications of a layer and step: linear in the tokens for its matrices, in their square for its attention. */
export function workOf({ rows, length }: Pick<PackedRows, 'rows' | 'length'>, config: DecoderConfig): number {
  const weights = PROJECTIONS.reduce((sum, projection) => {
    const [out, width] = projectionShape(config, projection);
    return sum + out * width;
  }, 0);
  return rows * length * (2 * weights + 6 * config.heads * config.headDim * length);
}

/**
 * As few rows of at most `limit` tokens as going from long to short finds, each sequence where the least room is left.
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
 * Spreads the sequences over `rows` rows of about the same load: from long to short, each goes to the row that has
 * least.
 */
function spreadOver(lengths: readonly number[], rows: number): PackedRows {
  const loads = Array.from({ length: rows }, () => 0);
  return place(lengths, loads, () => loads.indexOf(Math.min(...loads)));
}

/** Puts each sequence where `choose` says, behind what is there; `loads` are the tokens of each row so far. */
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
