/** The decoder's operations over a cache of keys and values, each batch row with an adapter of its own. */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ROPE_COS, ROPE_SIN } from './inputs.js';
import type { ServingWeights } from './servingWeights.js';
import { hasBias, loraName, projectionName, projectionShape, type Projection } from './weights.js';

/** Bounds of the score of a token that may not be seen, whose weight is then exactly 0, and of one that may. */
const HIDDEN = -1e9;
const SEEN = Infinity;

/** Values are names of tensors `[B, S, width]`; of the rows that `select` kept, `[B, 1, width]`. */
export class CachedOperations implements DecoderOperations<string> {
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
    return this.graph.node('SimplifiedLayerNormalization', [x, this.weights.vector(weight)], {
      axis: { int: -1 },
      epsilon: { float: this.config.rmsNormEps },
      stash_type: { int: 1 },
    });
  }

  /** `[B, S, heads, headDim]`, as the attention takes it. */
  headNorm(x: string, weight: string, heads: number): string {
    return this.rmsNorm(this.byHead(x, heads), weight);
  }

  project(x: string, layer: number, projection: Projection): string {
    const name = projectionName(layer, projection);
    const bias = hasBias(this.config, projection) ? `${name}.bias` : undefined;
    const base = this.weights.product(x, `${name}.weight`, bias);
    return this.adapters ? this.graph.node('Add', [base, this.loraTerm(x, layer, projection)]) : base;
  }

  /**
   * softmax(q Kᵀ) V over past and new tokens, without ever joining their keys or values: only the scores of the two
   * are joined, which are small, so that no run copies the cache.
   */
  attention(query: string, key: string, value: string, layer: number): string {
    const { heads, kvHeads, headDim } = this.config;
    const { graph } = this;
    const [pastKey, pastValue] = [this.pastInput('key', layer), this.pastInput('value', layer)];
    // Scaling the queries keeps the products free of a factor, for which there are faster kernels.
    const scaled = graph.node('Mul', [query, graph.float(headDim ** -0.5)]);
    const newKey = this.rotate(this.splitHeads(key, kvHeads));
    const newValue = this.splitHeads(value, kvHeads);
    this.newStates.push(newKey, newValue);

    const queries = this.grouped(this.rotate(this.splitHeads(scaled, heads)));
    const product = (keys: string) => graph.microsoftNode('FusedMatMul', [queries, keys], { transB: { int: 1 } });
    const scores = graph.node('Concat', [product(pastKey), product(newKey)], { axis: { int: -1 } });
    // A bound instead of a summand: a key that an earlier sequence left behind may be as large as any finite number.
    const mask = this.mask(layerWindow(this.config, layer));
    const masked = graph.node('Min', [this.perHead(scores), mask]);
    const weights = this.grouped(graph.node('Softmax', [masked], { axis: { int: -1 } }));
    const [past, fresh] = [graph.freshName('pastWeights'), graph.freshName('newWeights')];
    graph.nodeInto('Split', [weights, this.lengths], { axis: { int: -1 } }, [past, fresh]);
    const attended = graph.node('Add', [
      graph.node('MatMul', [past, pastValue]),
      graph.node('MatMul', [fresh, newValue]),
    ]);
    const byToken = graph.node('Transpose', [this.perHead(attended)], { perm: { ints: [0, 2, 1, 3] } });
    return this.graph.node('Reshape', [byToken, this.graph.integers([0, 0, heads * headDim])]);
  }

  /** Keys and values of the new tokens: `[2 * layers * B, kvHeads, S, headDim]`, layer by layer, keys first. */
  state(): string {
    return this.graph.node('Concat', this.newStates, { axis: { int: 0 } });
  }

  swiGlu(gate: string, up: string): string {
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

  /**
   * `B_b A_b x` for every row b of the batch; the scale is already in B. The leading axes of the matrices make the rows
   * a batch of products also when they share one adapter, so that each is computed as it would be alone.
   */
  private loraTerm(x: string, layer: number, projection: Projection): string {
    const [out, width] = projectionShape(this.config, projection);
    const rank = `${projectionName(layer, projection)}.rank`;
    const a = this.graph.input(loraName(layer, projection, 'A'), 'float32', [1, 'N', rank, width]);
    const b = this.graph.input(loraName(layer, projection, 'B'), 'float32', [1, 1, 'N', out, rank]);
    const transposed = { transB: { int: 1 } };
    const low = this.graph.microsoftNode('FusedMatMul', [x, a], transposed);
    const term = this.graph.microsoftNode('FusedMatMul', [low, b], transposed);
    return this.graph.node('Squeeze', [term, this.graph.integers([0, 1])]);
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

  /** Turns `[B, heads, S, headDim]` by the positions of its tokens. */
  private rotate(x: string): string {
    const operands = [x, this.positions, this.weights.rope(ROPE_COS), this.weights.rope(ROPE_SIN)];
    return this.graph.microsoftNode('RotaryEmbedding', operands);
  }

  /** `[B, S, heads * headDim]` to `[B, heads, S, headDim]`. */
  private splitHeads(x: string, heads: number): string {
    return this.graph.node('Transpose', [this.byHead(x, heads)], { perm: { ints: [0, 2, 1, 3] } });
  }

  /** `[B, S, heads * headDim]` to `[B, S, heads, headDim]`. */
  private byHead(x: string, heads: number): string {
    return this.graph.node('Reshape', [x, this.graph.integers([0, 0, heads, this.config.headDim])]);
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
