/** The decoder's operations over a key-value cache. Each batch row may have an adapter of its own. */
import { EngineError } from '../engine.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { sum } from '../support/numbers.js';
import { cachedHeadDim, layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ropeCos, ropeSin } from './inputs.js';
import { loraGroup, type LoraGroup } from './loraGroups.js';
import type { ServingWeights } from './servingWeights.js';
import { hasBias, headProjections, projectionName, type Projection } from './weights.js';

/** The names of a layer's keys and values in the cache, before and after a run. */
export function cacheNames(time: 'past' | 'present', layer: number): readonly [string, string] {
  return [`${time}.key.${layer}`, `${time}.value.${layer}`];
}

/** Values are names of tensors `[B, S, width]`, or `[B, 1, width]` for the rows that `select` kept. */
export class CachedOperations implements DecoderOperations<string, string> {
  /** The two summands of each sum, by the name of the sum. */
  private readonly summands = new Map<string, readonly [string, string]>();

  /** The graph inputs `ids` `[B, S]`, `ends` `[B]`, `length` `[1]` and `last` `[B, 1]` must exist. */
  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly weights: ServingWeights,
    private readonly adapters: boolean,
  ) {}

  embed(weight: string): string {
    return this.graph.node('Gather', [this.weights.table(weight), 'ids']);
  }

  /** If `x` is a sum, one node computes the sum and its norm. */
  rmsNorm(x: string, weight: string): string {
    const { graph } = this;
    const scale = this.weights.vector([weight]);
    const summands = this.summands.get(x);
    if (summands === undefined) return this.normed(x, scale);
    this.summands.delete(x);
    const normed = graph.freshName('normed');
    const outputs = [normed, '', '', x];
    const epsilon = { epsilon: { float: this.config.rmsNormEps } };
    graph.microsoftNodeInto('SkipSimplifiedLayerNormalization', [...summands, scale], epsilon, outputs);
    return normed;
  }

  project(x: string, layer: number, projection: Projection): string {
    return this.projectTogether(x, layer, [projection]);
  }

  /**
   * Queries, keys and values by token: `[B, S, (heads + 2 * kvHeads) * cachedHeadDim]`. The queries are scaled already.
   * That keeps the scores free of a factor, for which there is a faster kernel.
   */
  heads(x: string, layer: number): string {
    const { heads, kvHeads, headDim, qkNorm } = this.config;
    const width = cachedHeadDim(this.config);
    const joined = this.projectTogether(x, layer, headProjections);
    const scaled = qkNorm ? joined : this.graph.node('Mul', [joined, this.queryScales()]);
    if (!qkNorm && width === headDim) return scaled;
    const byHead = this.reshaped(scaled, [0, 0, heads + 2 * kvHeads, headDim]);
    const normed = qkNorm ? this.normedHeads(byHead, layer) : byHead;
    const whole = width === headDim ? normed : this.widened(normed, heads + 2 * kvHeads);
    return this.reshaped(whole, [0, 0, (heads + 2 * kvHeads) * width]);
  }

  /**
   * Rotates queries and keys, writes the new tokens' keys and values into the cache, and attends to everything up to
   * them. The output cache must be the memory of the input cache, or it is copied.
   */
  attention(heads: string, layer: number): string {
    const { graph, config } = this;
    const shape = ['B', config.kvHeads, 'C', cachedHeadDim(config)] as const;
    const [pastKeys, pastValues] = cacheNames('past', layer);
    const past = [graph.input(pastKeys, 'float32', shape), graph.input(pastValues, 'float32', shape)];
    const tables = [this.weights.rope(ropeCos), this.weights.rope(ropeSin)];
    const present = cacheNames('present', layer);
    const attended = graph.freshName('attended');
    const window = layerWindow(config, layer);
    graph.microsoftNodeInto(
      'GroupQueryAttention',
      [heads, '', '', ...past, 'ends', 'length', ...tables],
      {
        num_heads: { int: config.heads },
        kv_num_heads: { int: config.kvHeads },
        scale: { float: 1 },
        do_rotary: { int: 1 },
        ...(window === null ? {} : { local_window_size: { int: window } }),
      },
      [attended, ...present],
    );
    for (const name of present) graph.declareOutput(name, 'float32', shape);
    return this.narrowed(attended);
  }

  /** Call it when the graph is complete. */
  end(): void {
    if (this.summands.size > 0) throw new EngineError('internal', 'the decoder has a sum that is not normed');
  }

  gatedUnit(x: string, layer: number): string {
    const gate = this.project(x, layer, 'gate_proj');
    // With alpha 1, `QuickGelu` is x * sigmoid(x): silu in one node.
    const activated = this.graph.microsoftNode('QuickGelu', [gate], { alpha: { float: 1 } });
    return this.graph.node('Mul', [activated, this.project(x, layer, 'up_proj')]);
  }

  /** The sum is computed together with its norm. */
  add(a: string, b: string): string {
    const sum = this.graph.freshName('sum');
    this.summands.set(sum, [a, b]);
    return sum;
  }

  select(x: string): string {
    const rows = this.graph.node('Flatten', [x], { axis: { int: 2 } });
    return this.graph.node('Gather', [rows, 'last'], { axis: { int: 0 } });
  }

  /**
   * Computes several projections in one product. Their results follow each other in each row. Starting a product takes
   * a large part of a small model's time.
   */
  private projectTogether(x: string, layer: number, projections: readonly Projection[]): string {
    const names = projections.map((projection) => projectionName(layer, projection));
    const biased = projections.every((projection) => hasBias(this.config, projection));
    const weights = names.map((name) => `${name}.weight`);
    const base = this.weights.product(x, weights, biased ? names.map((name) => `${name}.bias`) : undefined);
    if (!this.adapters) return base;
    const term = this.loraTerm(x, loraGroup(this.config, layer, projections));
    return this.graph.node('Add', [base, this.graph.node('Squeeze', [term, this.graph.integers([0, 1])])]);
  }

  /** A constant with the factor of each number of queries, keys and values. */
  private queryScales(): string {
    const { heads, kvHeads, headDim } = this.config;
    const { graph } = this;
    const parts = [graph.floats(heads * headDim, headDim ** -0.5), graph.floats(2 * kvHeads * headDim, 1)];
    return graph.node('Concat', parts, { axis: { int: 0 } });
  }

  /**
   * Norms queries and keys, each with its own scale, which a constant holds for all heads. The queries' scale includes
   * their factor. Values stay as they are.
   */
  private normedHeads(byHead: string, layer: number): string {
    const { heads, kvHeads, headDim } = this.config;
    const { graph } = this;
    const scales = (name: string, count: number, factor: number): string => {
      const vector = this.weights.vector([`model.layers.${layer}.self_attn.${name}.weight`]);
      const scaled = graph.node('Mul', [vector, graph.float(factor)]);
      return graph.node('Expand', [scaled, graph.integers([count, headDim])]);
    };
    const both = [scales('q_norm', heads, headDim ** -0.5), scales('k_norm', kvHeads, 1)];
    const scale = graph.node('Concat', both, { axis: { int: 0 } });
    const [queriesAndKeys, values] = this.split(byHead, 2, heads + kvHeads, kvHeads);
    return graph.node('Concat', [this.normed(queriesAndKeys, scale), values], { axis: { int: 2 } });
  }

  /** Pads both halves of each head, which rotate together, with zeros. Zeros add nothing to a score or a value. */
  private widened(byHead: string, count: number): string {
    const { graph, config } = this;
    const half = config.headDim / 2;
    const missing = cachedHeadDim(config) / 2 - half;
    const halves = this.reshaped(byHead, [0, 0, count, 2, half]);
    return graph.node('Pad', [halves, graph.integers([0, 0, 0, 0, 0, 0, 0, 0, 0, missing])]);
  }

  /** Removes what `widened` has added: `[B, S, heads * headDim]`. */
  private narrowed(attended: string): string {
    const { graph } = this;
    const { heads, headDim } = this.config;
    const width = cachedHeadDim(this.config);
    if (width === headDim) return attended;
    const halves = this.reshaped(attended, [0, 0, heads, 2, width / 2]);
    const ends = [graph.integers([0]), graph.integers([headDim / 2]), graph.integers([-1])];
    return this.reshaped(graph.node('Slice', [halves, ...ends]), [0, 0, heads * headDim]);
  }

  private reshaped(x: string, shape: readonly number[]): string {
    return this.graph.node('Reshape', [x, this.graph.integers(shape)]);
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
   * `B_b A_b x` for every row b of the batch, `[1, 1, B, S, outs]`. B is scaled already. The leading axes of the
   * matrices make the rows a batch of products even if they share an adapter, so that each is computed as if alone.
   */
  private loraTerm(x: string, group: LoraGroup): string {
    const rank = `${group.name}.rank`;
    const outs = sum(group.parts.map(({ out }) => out));
    const a = this.graph.input(`${group.name}.lora_A`, 'float32', [1, 'N', rank, group.width]);
    const b = this.graph.input(`${group.name}.lora_B`, 'float32', [1, 1, 'N', rank, outs]);
    const low = this.graph.microsoftNode('FusedMatMul', [x, a], { transB: { int: 1 } });
    return this.graph.node('MatMul', [low, b]);
  }
}
