/** The shape of a decoder-only transformer of the Llama family. */

export type Architecture = 'llama' | 'mistral' | 'qwen2' | 'qwen3';

/** Scaling of the rotary frequencies for contexts longer than those of pretraining. */
export type RopeScaling =
  | { readonly kind: 'default' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      /** The context length in tokens before the scaling. */
      readonly originalContextLength: number;
    }
  /** Stretches only beyond `contextLength`. Within it the frequencies are the default ones. */
  | { readonly kind: 'dynamic'; readonly factor: number }
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      readonly originalContextLength: number;
      /**
       * In turns within the original context: above `betaFast` a frequency is kept, below `betaSlow` it is stretched.
       */
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Whether the bounds between the two are rounded to whole dimensions. */
      readonly truncate: boolean;
      /** Multiplies every rotated query and key. */
      readonly attentionFactor: number;
    };

export interface DecoderConfig {
  readonly architecture: Architecture;
  readonly vocabularySize: number;
  /** Width of the residual stream. */
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Key and value heads. `heads / kvHeads` query heads share each. */
  readonly kvHeads: number;
  /** Even; need not be `hiddenSize / heads`. */
  readonly headDim: number;
  readonly ffnSize: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling;
  /** Whether the output head is the embedding matrix. There is no `lm_head.weight` then. */
  readonly tieWordEmbeddings: boolean;
  /** In tokens, prompt and output together. */
  readonly contextLength: number;
  /** RMSNorm over each query and key head before the rotation (Qwen3). */
  readonly qkNorm: boolean;
  /** Biases on q, k and v (Qwen2); never on o. */
  readonly attentionBias: boolean;
  /** The attention window of each layer in tokens, or null for no window. Absent if no layer has one. */
  readonly layerWindows?: readonly (number | null)[];
}

/** The number of tokens that a token of this layer sees, itself included. `null` if it sees all before it. */
export function layerWindow(config: DecoderConfig, layer: number): number | null {
  return config.layerWindows?.[layer] ?? null;
}

/** Numbers of a head in the cache. ONNX Runtime's attention rotates heads whose width is a multiple of 16. */
export function cachedHeadDim({ headDim }: Pick<DecoderConfig, 'headDim'>): number {
  return Math.ceil(headDim / 16) * 16;
}
