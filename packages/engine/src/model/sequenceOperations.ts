/** The decoder's operations over whole sequences, differentiable in the LoRA matrices. */
import {
  fixedLoraLinear,
  linear,
  loraLinears,
  type AdaptedMatrix,
  type FrozenMatrix,
  type LoraPair,
} from '../autodiff/linear.js';
import {
  add,
  attention,
  gatherRows,
  reshape,
  rmsNorm,
  rotate,
  swiGlu,
  transpose,
  type AttentionShapes,
  type Rotation,
  type Shape,
} from '../autodiff/operations.js';
import type { Tape, Value } from '../autodiff/tape.js';
import { layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ropeCos, ropeSin, type WeightInputs } from './inputs.js';
import {
  gatedProjections,
  hasBias,
  headProjections,
  projectionName,
  projectionShape,
  type Projection,
} from './weights.js';

/** The LoRA pair of a projection, if it has one. */
export type LoraLookup = (layer: number, projection: Projection) => LoraPair | undefined;

/** Projections of the same input, by the one that is computed first. */
const siblingProjections: Partial<Record<Projection, readonly Projection[]>> = {
  q_proj: headProjections,
  gate_proj: gatedProjections,
};

/**
 * Up to this input width the low-rank term is added to the matrix, not to its products. Whichever is smaller should be
 * written, and runs have some 200 to 500 tokens.
 */
export const maxMergedWidth = 384;

/** Each `[B * T, heads * headDim]`; keys and values have `kvHeads`. */
export interface Heads {
  readonly query: Value;
  readonly key: Value;
  readonly value: Value;
}

/** The graph inputs `[B, T]` of a packed batch. */
interface Packed {
  readonly segments: string;
  readonly trunks: string;
  readonly places: string;
}

/** Added to the score of a hidden token. Its softmax is exactly 0. */
const hiddenScore = -1e9;

/**
 * Values are matrices `[B * T, width]` over the graph input `ids` `[B, T]`. Rows are right-padded. No token looks
 * ahead, so padding does not influence the tokens before it. In a packed batch each row holds several sequences.
 * `segments` tells them apart, and `places` has each token's index in its own sequence. A sequence may continue another
 * one of its row, which its tokens see as well. `trunks` has the segment of that sequence, or the token's own.
 */
export class SequenceOperations implements DecoderOperations<Value, Heads> {
  private readonly batch: string;
  private readonly length: string;
  private readonly rotation: Rotation;
  private readonly shapes: Omit<AttentionShapes, 'mask'>;
  /** Masks by window. */
  private readonly masks = new Map<number | null, string>();
  private readonly indices: string;
  private readonly packed: Packed | undefined;
  /** Results of projections that were computed together with a sibling. */
  private readonly projected = new Map<string, Value>();

  constructor(
    private readonly tape: Tape,
    private readonly config: DecoderConfig,
    private readonly inputs: WeightInputs,
    private readonly lora: LoraLookup,
    packed = false,
  ) {
    const { graph } = tape;
    const shape = graph.node('Shape', ['ids']);
    const slice = (start: number) => [shape, graph.integers([start]), graph.integers([start + 1])];
    this.batch = graph.node('Slice', slice(0));
    this.length = graph.node('Slice', slice(1));
    const length = graph.node('Squeeze', [this.length]);
    this.indices = graph.node('Range', [graph.integer(0), length, graph.integer(1)]);
    const input = (name: string): string => graph.input(name, 'int64', ['B', 'T']);
    this.packed = packed
      ? { segments: input('segments'), trunks: input('trunks'), places: input('places') }
      : undefined;
    this.rotation = this.buildRotation(
      this.packed?.places ?? graph.node('Expand', [this.unsqueeze(this.indices, 0), shape]),
    );
    this.shapes = this.buildShapes();
  }

  embed(weight: string): Value {
    const { graph } = this.tape;
    const rows = graph.node('Gather', [this.inputs.weight(weight), 'ids']);
    const { vector, sizes } = this.rowShape(this.config.hiddenSize);
    return this.tape.constant(graph.shaped(graph.node('Reshape', [rows, vector]), 'float32', sizes));
  }

  rmsNorm(x: Value, weight: string): Value {
    return rmsNorm(this.tape, x, this.inputs.weight(weight), this.config.rmsNormEps);
  }

  heads(x: Value, layer: number): Heads {
    const { config } = this;
    const normed = (projected: Value, norm: string, heads: number): Value =>
      config.qkNorm ? this.headNorm(projected, `model.layers.${layer}.self_attn.${norm}.weight`, heads) : projected;
    return {
      query: normed(this.project(x, layer, 'q_proj'), 'q_norm', config.heads),
      key: normed(this.project(x, layer, 'k_proj'), 'k_norm', config.kvHeads),
      value: this.project(x, layer, 'v_proj'),
    };
  }

  private headNorm(x: Value, weight: string, heads: number): Value {
    const slices = this.rowShape(this.config.headDim, heads);
    const rows = this.rowShape(heads * this.config.headDim);
    return reshape(this.tape, this.rmsNorm(reshape(this.tape, x, slices, rows), weight), rows, slices);
  }

  project(x: Value, layer: number, projection: Projection): Value {
    const known = this.projected.get(projectionName(layer, projection));
    if (known !== undefined) return known;
    const lora = this.lora(layer, projection);
    const { weight, bias } = this.frozen(layer, projection);
    if (lora !== undefined && lora.rank === undefined) return fixedLoraLinear(this.tape, x, weight, bias, lora);
    const siblings = siblingProjections[projection] ?? [projection];
    const adapted = siblings.flatMap((sibling) => this.adapted(layer, sibling) ?? []);
    const results = loraLinears(this.tape, x, adapted);
    for (const [index, { name }] of adapted.entries()) this.projected.set(name, results[index] ?? x);
    return this.projected.get(projectionName(layer, projection)) ?? linear(this.tape, x, weight, bias);
  }

  attention({ query, key, value }: Heads, layer: number): Value {
    const { heads, kvHeads, headDim } = this.config;
    const group = this.tape.graph.node('Mul', [this.length, this.tape.graph.integers([heads / kvHeads])]);
    const perHead = {
      vector: this.concat(this.batch, heads, this.length, headDim),
      sizes: ['B', heads, 'T', headDim],
    };
    const grouped = {
      vector: this.concat(this.batch, kvHeads, group, headDim),
      sizes: ['B', kvHeads, 'group * T', headDim],
    };
    const operands = {
      query: reshape(this.tape, rotate(this.tape, this.splitHeads(query, heads), this.rotation), grouped, perHead),
      key: rotate(this.tape, this.splitHeads(key, kvHeads), this.rotation),
      value: this.splitHeads(value, kvHeads),
    };
    const attended = attention(this.tape, operands, headDim, {
      ...this.shapes,
      mask: this.mask(layerWindow(this.config, layer)),
    });
    const byToken = transpose(this.tape, reshape(this.tape, attended, perHead, grouped), [0, 2, 1, 3]);
    return reshape(this.tape, byToken, this.rowShape(heads * headDim), this.tokenShape(heads));
  }

  gatedUnit(x: Value, layer: number): Value {
    return swiGlu(this.tape, this.project(x, layer, 'gate_proj'), this.project(x, layer, 'up_proj'));
  }

  add(a: Value, b: Value): Value {
    return add(this.tape, a, b);
  }

  select(x: Value): Value {
    return gatherRows(this.tape, x, 'positions');
  }

  private frozen(layer: number, projection: Projection): { weight: FrozenMatrix; bias: string | undefined } {
    const name = projectionName(layer, projection);
    const bias = hasBias(this.config, projection) ? this.inputs.weight(`${name}.bias`) : undefined;
    return { weight: this.inputs.matrix(`${name}.weight`), bias };
  }

  /** The operand for `loraLinears`, if the projection is adapted with a known rank. */
  private adapted(layer: number, projection: Projection): (AdaptedMatrix & { readonly name: string }) | undefined {
    const pair = this.lora(layer, projection);
    if (pair?.rank === undefined) return undefined;
    const lora = { ...pair, rank: pair.rank };
    const merged = projectionShape(this.config, projection)[1] <= maxMergedWidth;
    return { ...this.frozen(layer, projection), lora, merged, name: projectionName(layer, projection) };
  }

  /** Turns `[B * T, heads * headDim]` into `[B, heads, T, headDim]`. */
  private splitHeads(x: Value, heads: number): Value {
    const rows = this.rowShape(heads * this.config.headDim);
    return transpose(this.tape, reshape(this.tape, x, this.tokenShape(heads), rows), [0, 2, 1, 3]);
  }

  private buildRotation(positions: string): Rotation {
    const { graph } = this.tape;
    const firstRows = (table: string) => graph.node('Slice', [table, graph.integers([0]), this.length]);
    const cos = firstRows(this.inputs.rope(ropeCos));
    const sin = firstRows(this.inputs.rope(ropeSin));
    return { positions, cos, sin, negativeSin: graph.node('Neg', [sin]) };
  }

  private buildShapes(): Omit<AttentionShapes, 'mask'> {
    const { graph } = this.tape;
    const { heads, kvHeads } = this.config;
    const group = heads / kvHeads;
    const rows = graph.node('Mul', [this.length, graph.integers([group])]);
    return {
      grouped: this.concat(this.batch, kvHeads, rows, this.length),
      perHead: this.concat(this.batch, kvHeads, group, this.length, this.length),
    };
  }

  /**
   * Hides later tokens, tokens of other sequences, and tokens that are `window` or more behind, unless `window` is
   * null.
   */
  private mask(window: number | null): string {
    const known = this.masks.get(window);
    if (known !== undefined) return known;
    const { graph } = this.tape;
    const [query, key] = [this.unsqueeze(this.indices, 1), this.unsqueeze(this.indices, 0)];
    let hidden = graph.node('Less', [query, key]);
    if (window !== null) {
      // Other sequences may lie in the row between a sequence and the one it continues.
      const [at, from] = this.packed === undefined ? [query, key] : this.pairs(this.packed.places);
      const last = graph.node('Sub', [at, graph.integer(window)]);
      hidden = graph.node('Or', [hidden, graph.node('LessOrEqual', [from, last])]);
    }
    if (this.packed !== undefined) {
      const [own, seen] = this.pairs(this.packed.segments);
      const [trunk] = this.pairs(this.packed.trunks);
      const related = graph.node('Or', [graph.node('Equal', [own, seen]), graph.node('Equal', [trunk, seen])]);
      hidden = graph.node('Or', [hidden, graph.node('Not', [related])]);
    }
    const mask = graph.node('Where', [hidden, graph.float(hiddenScore), graph.float(0)]);
    this.masks.set(window, mask);
    return mask;
  }

  /** The values `[B, T]` of the querying token and of the token it looks at, in the shape of attention scores. */
  private pairs(values: string): readonly [string, string] {
    const unsqueezed = (...axes: readonly number[]): string =>
      this.tape.graph.node('Unsqueeze', [values, this.tape.graph.integers(axes)]);
    return [unsqueezed(1, 2, 4), unsqueezed(1, 2, 3)];
  }

  private tokenShape(heads: number): Shape {
    const { headDim } = this.config;
    return { vector: this.concat(this.batch, this.length, heads, headDim), sizes: ['B', 'T', heads, headDim] };
  }

  /** Rows of all tokens, or `times` as many. */
  private rowShape(width: number, times = 1): Shape {
    return { vector: this.tape.graph.integers([-1, width]), sizes: [times === 1 ? 'R' : `${times} * R`, width] };
  }

  private unsqueeze(x: string, axis: number): string {
    return this.tape.graph.node('Unsqueeze', [x, this.tape.graph.integers([axis])]);
  }

  /** A shape vector of constants and int64 vectors. */
  private concat(...parts: readonly (number | string)[]): string {
    const { graph } = this.tape;
    const vectors = parts.map((part) => (typeof part === 'number' ? graph.integers([part]) : part));
    return graph.node('Concat', vectors, { axis: { int: 0 } });
  }
}
