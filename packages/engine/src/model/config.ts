/** The shape of a decoder-only transformer of the Llama family. */

export type Architecture = 'llama' | 'mistral' | 'qwen2' | 'qwen3';

/** How rotary frequencies are stretched for contexts longer than those of pretraining. */
export type RopeScaling =
  | { readonly kind: 'default' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      /** Tokens the model was pretrained on before the stretch. */
      readonly originalContextLength: number;
    }
  /** Stretches only beyond `contextLength`, so within it the frequencies are the default ones. */
  | { readonly kind: 'dynamic'; readonly factor: number }
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      readonly originalContextLength: number;
      /** Turns within the original context from which a frequency is kept, and below which it is stretched. */
      readonly betaFast: number;
      readonly betaSlow: number;
      /** Whether the bounds between these two are rounded to whole dimensions. */
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
  /** Key and value heads; each is shared by `heads / kvHeads` query heads. */
  readonly kvHeads: number;
  /** Even; need not be `hiddenSize / heads`. */
  readonly headDim: number;
  readonly ffnSize: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling;
  /** Whether the output head is the embedding matrix; there is no `lm_head.weight` then. */
  readonly tieWordEmbeddings: boolean;
  /** Tokens, prompt and output together. */
  readonly contextLength: number;
  /** RMSNorm over each query and key head before the rotation (Qwen3). */
  readonly qkNorm: boolean;
  /** Biases on q, k and v (Qwen2); never on o. */
  readonly attentionBias: boolean;
  /**
   * For each layer how many tokens a token sees, itself included, or null for all; absent when every layer sees all.
   */
  readonly layerWindows?: readonly (number | null)[];
}

/** How many tokens a token of this layer sees, itself included; null for all that came before. */
export function layerWindow(config: DecoderConfig, layer: number): number | null {
  return config.layerWindows?.[layer] ?? null;
}

/**
 * Numbers of a head in the cache of generation: ONNX Runtime's attention rotates heads whose width is a multiple of 16.
 */
export function cachedHeadDim({ headDim }: Pick<DecoderConfig, 'headDim'>): number {
  return Math.ceil(headDim / 16) * 16;
}
