/** The decoder's operations over a cache of keys and values, each batch row with an adapter of its own. */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ROPE_COS, ROPE_SIN } from './inputs.js';
import { loraGroup, type LoraGroup } from './loraGroups.js';
import type { ServingWeights } from './servingWeights.js';
import { GATED_PROJECTIONS, hasBias, HEAD_PROJECTIONS, projectionName, type Projection } from './weights.js';

/** Bounds of the score of a token that may not be seen, whose weight is then exactly 0, and of one that may. */
const HIDDEN = -1e9;
const SEEN = Infinity;

/** By head, `[B, heads, S, headDim]`: queries, which are scaled and rotated already, keys, rotated as well, and values. */
export interface CachedHeads {
  readonly queries: string;
  readonly keys: string;
  readonly values: string;
}

/** Values are names of tensors `[B, S, width]`; of the rows that `select` kept, `[B, 1, width]`. */
export class CachedOperations implements DecoderOperations<string, CachedHeads> {
  /** `[B, 1]` */
  private readonly last: string;
  /** `[B, S]`, the place of each new token in its sequence. */
  private readonly positions: string;
  /** C and S, the lengths of the two parts of a row of scores. */
  private readonly lengths: string;
  /** `[C]` and `[S]`: 0, 1, 2 and so on. */
  private readonly pastIndices: string;
  private readonly newIndices: string;
  /** Shapes of the two parts of a mask: `[B, 1, S, C]` and `[B, 1, S, S]`. */
  private readonly maskShapes: readonly [string, string];
  /** By window. */
  private readonly masks = new Map<number | null, string>();
  /** Shapes for `Reshape`: `[B, heads, S, …]`, and `[B, kvHeads, S * heads / kvHeads, …]`. */
  private readonly perHeadShape: string;
  private readonly groupedShape: string;
  private readonly newStates: string[] = [];

  /** The graph inputs `ids` `[B, S]`, `past.length` and `last` `[B]` must exist. */
  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly weights: ServingWeights,
    private readonly adapters: boolean,
  ) {
    const { heads, kvHeads } = config;
    const size = (x: string, axis: number) =>
      graph.node('Slice', [graph.node('Shape', [x]), graph.integers([axis]), graph.integers([axis + 1])]);
    const batchSize = size('ids', 0);
    this.last = this.unsqueeze('last', 1);
    const newLength = size('ids', 1);
    const capacity = size(this.pastInput('key', 0), 2);
    this.lengths = this.concat(capacity, newLength);
    this.perHeadShape = this.concat(0, heads, newLength, -1);
    const groupRows = graph.node('Mul', [newLength, graph.integers([heads / kvHeads])]);
    this.groupedShape = this.concat(0, kvHeads, groupRows, -1);

    const upTo = (end: string) =>
      graph.node('Range', [graph.integer(0), graph.node('Squeeze', [end]), graph.integer(1)]);
    this.pastIndices = upTo(capacity);
    this.newIndices = upTo(newLength);
    this.positions = graph.node('Add', [this.unsqueeze('past.length', 1), this.newIndices]);
    const maskShape = (length: string) => this.concat(batchSize, 1, newLength, length);
    this.maskShapes = [maskShape(capacity), maskShape(newLength)];
  }

  embed(weight: string): string {
    return this.graph.node('Gather', [this.weights.table(weight), 'ids']);
  }

  rmsNorm(x: string, weight: string): string {
    return this.normed(x, this.weights.vector([weight]));
  }

  project(x: string, layer: number, projection: Projection): string {
    return this.projectTogether(x, layer, [projection]);
  }

  heads(x: string, layer: number): CachedHeads {
    const { heads, kvHeads, headDim } = this.config;
    const { graph } = this;
    const shape = graph.integers([0, 0, heads + 2 * kvHeads, headDim]);
    const byToken = graph.node('Reshape', [this.projectTogether(x, layer, HEAD_PROJECTIONS), shape]);
    const byHead = graph.node('Transpose', [byToken], { perm: { ints: [0, 2, 1, 3] } });
    const [queriesAndKeys, values] = this.split(byHead, 1, heads + kvHeads, kvHeads);
    const tables = [this.weights.rope(ROPE_COS), this.weights.rope(ROPE_SIN)];
    const operands = [this.scaled(queriesAndKeys, layer), this.positions, ...tables];
    const rotated = graph.microsoftNode('RotaryEmbedding', operands);
    const [queries, keys] = this.split(rotated, 1, heads, kvHeads);
    return { queries, keys, values };
  }

  /**
   * softmax(q Kᵀ) V over past and new tokens, without ever joining their keys or values: only the scores of the two
   * are joined, which are small, so that no run copies the cache.
   */
  attention({ queries, keys, values }: CachedHeads, layer: number): string {
    const { heads, headDim } = this.config;
    const { graph } = this;
    const [pastKeys, pastValues] = [this.pastInput('key', layer), this.pastInput('value', layer)];
    this.newStates.push(keys, values);

    const asking = this.grouped(queries);
    const product = (asked: string) => graph.microsoftNode('FusedMatMul', [asking, asked], { transB: { int: 1 } });
    const scores = graph.node('Concat', [product(pastKeys), product(keys)], { axis: { int: -1 } });
    // A bound instead of a summand: a key that an earlier sequence left behind may be as large as any finite number.
    const mask = this.mask(layerWindow(this.config, layer));
    const masked = graph.node('Min', [this.perHead(scores), mask]);
    const weights = this.grouped(graph.node('Softmax', [masked], { axis: { int: -1 } }));
    const [past, fresh] = [graph.freshName('pastWeights'), graph.freshName('newWeights')];
    graph.nodeInto('Split', [weights, this.lengths], { axis: { int: -1 } }, [past, fresh]);
    const attended = graph.node('Add', [
      graph.node('MatMul', [past, pastValues]),
      graph.node('MatMul', [fresh, values]),
    ]);
    const byToken = graph.node('Transpose', [this.perHead(attended)], { perm: { ints: [0, 2, 1, 3] } });
    return this.graph.node('Reshape', [byToken, this.graph.integers([0, 0, heads * headDim])]);
  }

  /** Keys and values of the new tokens: `[2 * layers * B, kvHeads, S, headDim]`, layer by layer, keys first. */
  state(): string {
    return this.graph.node('Concat', this.newStates, { axis: { int: 0 } });
  }

  gatedUnit(x: string, layer: number): string {
    const { ffnSize } = this.config;
    const [gate, up] = this.split(this.projectTogether(x, layer, GATED_PROJECTIONS), -1, ffnSize, ffnSize);
    // With alpha 1, `QuickGelu` is x * sigmoid(x): silu in one node.
    return this.graph.node('Mul', [this.graph.microsoftNode('QuickGelu', [gate], { alpha: { float: 1 } }), up]);
  }

  add(a: string, b: string): string {
    return this.graph.node('Add', [a, b]);
  }

  select(x: string): string {
    const rows = this.graph.node('Flatten', [x], { axis: { int: 2 } });
    return this.graph.node('Gather', [rows, this.last], { axis: { int: 0 } });
  }

  /** Of several projections, their results one after the other in each row: starting a product takes a small model much of its time. */
  private projectTogether(x: string, layer: number, projections: readonly Projection[]): string {
    const names = projections.map((projection) => projectionName(layer, projection));
    const biased = projections.every((projection) => hasBias(this.config, projection));
    const weights = names.map((name) => `${name}.weight`);
    const base = this.weights.product(x, weights, biased ? names.map((name) => `${name}.bias`) : undefined);
    if (!this.adapters) return base;
    const term = this.loraTerm(x, loraGroup(this.config, layer, projections));
    return this.graph.node('Add', [base, this.graph.node('Squeeze', [term, this.graph.integers([0, 1])])]);
  }

  /**
   * Queries and keys `[B, heads + kvHeads, S, headDim]`, normed where the model norms them. The queries are scaled, too, which keeps
   * the scores free of a factor: there are faster kernels for such products. What they are multiplied by is a constant, made once.
   */
  private scaled(x: string, layer: number): string {
    const { heads, kvHeads, headDim, qkNorm } = this.config;
    const { graph } = this;
    const factors = (norm: string, count: number, scale: number): string => {
      const name = `model.layers.${layer}.self_attn.${norm}.weight`;
      const vector = qkNorm
        ? graph.node('Mul', [this.weights.vector([name]), graph.float(scale)])
        : graph.floats(headDim, scale);
      return graph.node('Expand', [vector, graph.integers([count, 1, headDim])]);
    };
    const both = [factors('q_norm', heads, headDim ** -0.5), factors('k_norm', kvHeads, 1)];
    const joined = graph.node('Concat', both, { axis: { int: 0 } });
    return graph.node('Mul', [qkNorm ? this.normed(x, graph.floats(headDim, 1)) : x, joined]);
  }

  private normed(x: string, weight: string): string {
    return this.graph.node('SimplifiedLayerNormalization', [x, weight], {
      axis: { int: -1 },
      epsilon: { float: this.config.rmsNormEps },
      stash_type: { int: 1 },
    });
  }

  private split(x: string, axis: number, first: number, second: number): readonly [string, string] {
    const names = [this.graph.freshName('first'), this.graph.freshName('second')] as const;
    this.graph.nodeInto('Split', [x, this.graph.integers([first, second])], { axis: { int: axis } }, names);
    return names;
  }

  /**
   * `B_b A_b x` for every row b of the batch, `[1, 1, B, S, outs]`; the scale is already in B. The leading axes of the matrices make the
   * rows a batch of products also when they share one adapter, so that each is computed as it would be alone.
   */
  private loraTerm(x: string, group: LoraGroup): string {
    const rank = `${group.name}.rank`;
    const outs = group.parts.reduce((sum, { out }) => sum + out, 0);
    const a = this.graph.input(`${group.name}.lora_A`, 'float32', [1, 'N', rank, group.width]);
    const b = this.graph.input(`${group.name}.lora_B`, 'float32', [1, 1, 'N', rank, outs]);
    const low = this.graph.microsoftNode('FusedMatMul', [x, a], { transB: { int: 1 } });
    return this.graph.node('MatMul', [low, b]);
  }

  /**
   * Bounds of scores, `[B, 1, S, C + S]`: hides what lies beyond a sequence's end in the cache, what is ahead, and what
   * lies `window` tokens or more behind unless that is null.
   */
  private mask(window: number | null): string {
    const known = this.masks.get(window);
    if (known !== undefined) return known;
    const { graph } = this;
    const hidden = (condition: string, keys: string, queries: string, shape: string): string => {
      const behind = (size: number) =>
        graph.node('LessOrEqual', [keys, graph.node('Sub', [queries, graph.integer(size)])]);
      const either = window === null ? condition : graph.node('Or', [condition, behind(window)]);
      const bounds = graph.node('Where', [either, graph.float(HIDDEN), graph.float(SEEN)]);
      return graph.node('Expand', [bounds, shape]);
    };
    const beyond = graph.node('GreaterOrEqual', [this.pastIndices, this.unsqueeze('past.length', 1, 2, 3)]);
    const rows = this.unsqueeze(this.newIndices, 1);
    const columns = this.unsqueeze(this.newIndices, 0);
    const parts = [
      hidden(beyond, this.pastIndices, this.unsqueeze(this.positions, 1, 3), this.maskShapes[0]),
      hidden(graph.node('Less', [rows, columns]), columns, rows, this.maskShapes[1]),
    ];
    const mask = graph.node('Concat', parts, { axis: { int: -1 } });
    this.masks.set(window, mask);
    return mask;
  }

  /** Keys or values in the cache: `[B, kvHeads, C, headDim]`. */
  private pastInput(part: 'key' | 'value', layer: number): string {
    const { kvHeads, headDim } = this.config;
    return this.graph.input(`past.${part}.${layer}`, 'float32', ['B', kvHeads, 'C', headDim]);
  }

  /** `[B, heads, S, …]` to `[B, kvHeads, S * heads / kvHeads, …]`: the rows that meet the same keys and values. */
  private grouped(x: string): string {
    const { heads, kvHeads } = this.config;
    return heads === kvHeads ? x : this.graph.node('Reshape', [x, this.groupedShape]);
  }

  /** The way back. */
  private perHead(x: string): string {
    const { heads, kvHeads } = this.config;
    return heads === kvHeads ? x : this.graph.node('Reshape', [x, this.perHeadShape]);
  }

  private unsqueeze(x: string, ...axes: readonly number[]): string {
    return this.graph.node('Unsqueeze', [x, this.graph.integers(axes)]);
  }

  /** A shape vector out of constants and int64 vectors. */
  private concat(...parts: readonly (number | string)[]): string {
    if (parts.every((part) => typeof part === 'number')) return this.graph.integers(parts);
    const vectors = parts.map((part) => (typeof part === 'number' ? this.graph.integers([part]) : part));
    return this.graph.node('Concat', vectors, { axis: { int: 0 } });
  }
}
