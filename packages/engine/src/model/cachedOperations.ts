/** The decoder's operations over a cache of keys and values, each batch row with an adapter of its own. */
import type { GraphBuilder } from '../onnx/graphBuilder.js';
import { layerWindow, type DecoderConfig } from './config.js';
import type { DecoderOperations } from './decoder.js';
import { ROPE_COS, ROPE_SIN, type WeightInputs } from './inputs.js';
import { hasBias, loraName, projectionName, projectionShape, type Projection } from './weights.js';

/** Values are names of `[B * S, width]` matrices. */
export class CachedOperations implements DecoderOperations<string> {
  /** B, as a run-time vector of one number. */
  private readonly batchSize: string;

  constructor(
    private readonly graph: GraphBuilder,
    private readonly config: DecoderConfig,
    private readonly inputs: WeightInputs,
    private readonly adapters: boolean,
  ) {
    const shape = graph.node('Shape', ['ids']);
    this.batchSize = graph.node('Slice', [shape, graph.integers([0]), graph.integers([1])]);
  }

  embed(weight: string): string {
    const rows = this.graph.node('Gather', [this.inputs.weight(weight), 'ids']);
    return this.asRows(rows, this.config.hiddenSize);
  }

  rmsNorm(x: string, weight: string): string {
    return this.graph.node('SimplifiedLayerNormalization', [x, this.inputs.weight(weight)], {
      axis: { int: -1 },
      epsilon: { float: this.config.rmsNormEps },
      stash_type: { int: 1 },
    });
  }

  headNorm(x: string, weight: string, heads: number): string {
    const { headDim } = this.config;
    return this.asRows(this.rmsNorm(this.asRows(x, headDim), weight), heads * headDim);
  }

  project(x: string, layer: number, projection: Projection): string {
    const name = projectionName(layer, projection);
    const operands = [x, this.inputs.weight(`${name}.weight`)];
    if (hasBias(this.config, projection)) operands.push(this.inputs.weight(`${name}.bias`));
    const base = this.graph.node('Gemm', operands, { transB: { int: 1 } });
    return this.adapters ? this.graph.node('Add', [base, this.loraTerm(x, layer, projection)]) : base;
  }

  attention(query: string, key: string, value: string, layer: number): string {
    const { heads, kvHeads, headDim } = this.config;
    const cacheShape = ['B', kvHeads, 'C', headDim];
    const pastKey = this.graph.input(`past.key.${layer}`, 'float32', cacheShape);
    const pastValue = this.graph.input(`past.value.${layer}`, 'float32', cacheShape);
    const attended = this.graph.freshName('attended');
    const operands = [
      this.asBatch(query, heads * headDim),
      this.asBatch(key, kvHeads * headDim),
      this.asBatch(value, kvHeads * headDim),
      pastKey,
      pastValue,
      'seqlens',
      'total',
      this.inputs.rope(ROPE_COS),
      this.inputs.rope(ROPE_SIN),
    ];
    const attributes = {
      num_heads: { int: heads },
      kv_num_heads: { int: kvHeads },
      do_rotary: { int: 1 },
      local_window_size: { int: layerWindow(this.config, layer) ?? -1 },
    };
    const results = [attended, `present.key.${layer}`, `present.value.${layer}`];
    this.graph.microsoftNodeInto('GroupQueryAttention', operands, attributes, results);
    this.graph.declareOutput(`present.key.${layer}`, 'float32', cacheShape);
    this.graph.declareOutput(`present.value.${layer}`, 'float32', cacheShape);
    return this.asRows(attended, heads * headDim);
  }

  swiGlu(gate: string, up: string): string {
    // With alpha 1, `QuickGelu` is x * sigmoid(x): silu in one node.
    return this.graph.node('Mul', [this.graph.microsoftNode('QuickGelu', [gate], { alpha: { float: 1 } }), up]);
  }

  add(a: string, b: string): string {
    return this.graph.node('Add', [a, b]);
  }

  select(x: string): string {
    return this.graph.node('Gather', [x, 'last'], { axis: { int: 0 } });
  }

  /** `B_b A_b x` for every row b of the batch; the scale is already in B. */
  private loraTerm(x: string, layer: number, projection: Projection): string {
    const [out, width] = projectionShape(this.config, projection);
    const a = this.graph.input(loraName(layer, projection, 'A'), 'float32', ['B', 'R', width]);
    const b = this.graph.input(loraName(layer, projection, 'B'), 'float32', ['B', out, 'R']);
    const transposed = { transB: { int: 1 } };
    const low = this.graph.microsoftNode('FusedMatMul', [this.asBatch(x, width), a], transposed);
    return this.asRows(this.graph.microsoftNode('FusedMatMul', [low, b], transposed), out);
  }

  /** `[B * S, width]` to `[B, S, width]`; S is 1 for selected rows. */
  private asBatch(x: string, width: number): string {
    const shape = this.graph.node('Concat', [this.batchSize, this.graph.integers([-1, width])], { axis: { int: 0 } });
    return this.graph.node('Reshape', [x, shape]);
  }

  /** Anything to `[rows, width]`. */
  private asRows(x: string, width: number): string {
    return this.graph.node('Reshape', [x, this.graph.integers([-1, width])]);
  }
}
