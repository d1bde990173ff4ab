/** The decoder's operations over a cache of keys and values, each batch row with an adapter of its own. */
import { EngineError } from '../engine.js';
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ROPE_COS, ROPE_SIN } from './inputs.js';
import { loraGroup, type LoraGroup } from './loraGroups.js';
import type { ServingWeights } from './servingWeights.js';
import { GATED_PROJECTIONS, hasBias, HEAD_PROJECTIONS, projectionName, type Projection } from './weights.js';

/** The input that bounds the scores of the layers with this window. */
export function boundsName(window: number | null): string {
  return window === null ? 'bounds' : `bounds.${window}`;
}

/** By head, `[B, heads, S, headDim]`: queries, which are scaled and rotated already, keys, rotated as well, and values. */
export interface CachedHeads {
  readonly queries: string;
  readonly keys: string;
  readonly values: string;
}

/** Values are names of tensors `[B, S, width]`; of the rows that `select` kept, `[B, 1, width]`. */
export class CachedOperations implements DecoderOperations<string, CachedHeads> {
  private readonly newStates: string[] = [];
  /** What is to be added, by the name of the sum. */
  private readonly summands = new Map<string, readonly [string, string]>();

  /** The graph inputs `ids` `[B, S]`, `positions` `[B, S]`, `lengths` `[2]` and `last` `[B, 1]` must exist. */
  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly weights: ServingWeights,
    private readonly adapters: boolean,
  ) {}

  embed(weight: string): string {
    return this.graph.node('Gather', [this.weights.table(weight), 'ids']);
  }

  /** Of a sum, computed together with it. */
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

  heads(x: string, layer: number): CachedHeads {
    const { heads, kvHeads, headDim } = this.config;
    const { graph } = this;
    const shape = graph.integers([0, 0, heads + 2 * kvHeads, headDim]);
    const byToken = graph.node('Reshape', [this.projectTogether(x, layer, HEAD_PROJECTIONS), shape]);
    const byHead = graph.node('Transpose', [byToken], { perm: { ints: [0, 2, 1, 3] } });
    const [queriesAndKeys, values] = this.split(byHead, 1, heads + kvHeads, kvHeads);
    const tables = [this.weights.rope(ROPE_COS), this.weights.rope(ROPE_SIN)];
    const operands = [this.scaled(queriesAndKeys, layer), 'positions', ...tables];
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
    const bounds = graph.input(boundsName(layerWindow(this.config, layer)), 'float32', ['B', 1, 'S', 'L']);
    const masked = graph.node('Min', [this.perHead(scores), bounds]);
    const weights = this.grouped(graph.node('Softmax', [masked], { axis: { int: -1 } }));
    const [past, fresh] = [graph.freshName('pastWeights'), graph.freshName('newWeights')];
    graph.nodeInto('Split', [weights, 'lengths'], { axis: { int: -1 } }, [past, fresh]);
    const attended = graph.node('Add', [
      graph.node('MatMul', [past, pastValues]),
      graph.node('MatMul', [fresh, values]),
    ]);
    const byToken = graph.node('Transpose', [this.perHead(attended)], { perm: { ints: [0, 2, 1, 3] } });
    return this.graph.node('Reshape', [byToken, this.graph.integers([0, 0, heads * headDim])]);
  }

  /** Keys and values of the new tokens: `[2 * layers * B, kvHeads, S, headDim]`, layer by layer, keys first. */
  state(): string {
    if (this.summands.size > 0) throw new EngineError('internal', 'the decoder has a sum that is not normed');
    return this.graph.node('Concat', this.newStates, { axis: { int: 0 } });
  }

  gatedUnit(x: string, layer: number): string {
    const { ffnSize } = this.config;
    const [gate, up] = this.split(this.projectTogether(x, layer, GATED_PROJECTIONS), -1, ffnSize, ffnSize);
    // With alpha 1, `QuickGelu` is x * sigmoid(x): silu in one node.
    return this.graph.node('Mul', [this.graph.microsoftNode('QuickGelu', [gate], { alpha: { float: 1 } }), up]);
  }

  /** Computed when it is normed. */
  add(a: string, b: string): string {
    const sum = this.graph.freshName('sum');
    this.summands.set(sum, [a, b]);
    return sum;
  }

  select(x: string): string {
    const rows = this.graph.node('Flatten', [x], { axis: { int: 2 } });
    return this.graph.node('Gather', [rows, 'last'], { axis: { int: 0 } });
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

  /** Keys or values in the cache: `[B, kvHeads, C, headDim]`. */
  private pastInput(part: 'key' | 'value', layer: number): string {
    const { kvHeads, headDim } = this.config;
    return this.graph.input(`past.${part}.${layer}`, 'float32', ['B', kvHeads, 'C', headDim]);
  }

  /** `[B, heads, S, …]` to `[B, kvHeads, S * heads / kvHeads, …]`: the rows that meet the same keys and values. */
  private grouped(x: string): string {
    return this.withHeads(x, this.config.kvHeads);
  }

  /** The way back. */
  private perHead(x: string): string {
    return this.withHeads(x, this.config.heads);
  }

  private withHeads(x: string, count: number): string {
    const { heads, kvHeads } = this.config;
    return heads === kvHeads ? x : this.graph.node('Reshape', [x, this.graph.integers([0, count, -1, 0])]);
  }
}
