import type { ElementType } from '../checkpoint/safetensors.js';

/** How GGUF stores the numbers of one type. */
export interface BlockFormat {
  /** ggml's name for it. */
  readonly name: string;
  /** The number of elements of a block, and the number of bytes that hold them. */
  readonly length: number;
  readonly bytes: number;
  /** The smallest type of safetensors that holds every number exactly. */
  readonly exactType: ElementType;
  /** Decodes the block at byte `at` of `view` as float32 into `place`, from `index` on. */
  readonly decode: (view: DataView, at: number, place: Float32Array, index: number) => void;
}
