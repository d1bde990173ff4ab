import { EngineError } from '../engine.js';
import { machineMemory } from '../support/machineMemory.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { sharedFloats } from '../support/threadMemory.js';
import type { DecoderConfig } from './config.js';
import { blockFeeds } from './blockFeeds.js';
import { tableFeeds, weightFeeds, type Feeds } from './inputs.js';
import { residentBytes } from './openedBytes.js';
import type { WeightFormat } from './quantization.js';
import type { QuantizedWeights } from './servingWeights.js';
import {
  decoderWeightShapes,
  embeddingName,
  readWeights,
  sizeOf,
  type WeightReader,
  type WeightTensor,
} from './weights.js';

/** Scoring comes in bursts, between which the weights stay in memory. */
const defaultIdleMs = 60_000;

export interface SharedWeightsOptions {
  readonly idleMs?: number;
  /** Memory of the machine. */
  readonly memoryBytes?: number;
  /** Given where the matrices are to be in blocks. */
  readonly quantized?: QuantizedWeights | undefined;
}

/** The weights, for somebody who uses them. */
export interface WeightsInUse {
  /** How graphs are fed the matrices. */
  readonly format: WeightFormat;
  /** See `weightFeeds` and, of matrices in blocks, `blockFeeds`. */
  readonly feeds: Feeds;
  /** Call it once, when the weights are not used any more. */
  readonly release: () => void;
}

/**
 * A model's weights, its matrices as float32 or in blocks: in memory while scoring or training uses them and for a
 * minute after, and only where they are read from at other times. Generation has copies of its own, arranged for its
 * kernels, and needs nothing else but the tables.
 */
export class SharedWeights {
  private loaded: Promise<Feeds> | undefined;
  private users = 0;
  private forgetting: NodeJS.Timeout | undefined;

  private constructor(
    private readonly config: DecoderConfig,
    /** The weights can also be read piece by piece. */
    readonly reader: WeightReader,
    private readonly embedding: WeightTensor,
    private readonly idleMs: number,
    private readonly memoryBytes: number,
    private readonly quantized: QuantizedWeights | undefined,
  ) {
    this.tables = new RegisteredTensors(tableFeeds(config, embedding));
  }

  /** Tables that rows are looked up in, see `tableFeeds`; always in memory. */
  readonly tables: RegisteredTensors;

  /** @throws EngineError `checkpoint_invalid` when the embedding cannot be read. */
  static async open(
    config: DecoderConfig,
    reader: WeightReader,
    { idleMs = defaultIdleMs, memoryBytes = machineMemory(), quantized }: SharedWeightsOptions = {},
  ): Promise<SharedWeights> {
    const shape = [config.vocabularySize, config.hiddenSize];
    const data = sharedFloats(sizeOf(shape));
    await reader.read(new Map([[embeddingName, data]]));
    return new SharedWeights(config, reader, { shape, data }, idleMs, memoryBytes, quantized);
  }

  /** Whether all of them are in memory, or on the way. */
  get inMemory(): boolean {
    return this.loaded !== undefined;
  }

  /**
   * @throws EngineError `memory_exceeded` where there is no room for them, as there may be for those of generation;
   *   `checkpoint_invalid` when they cannot be read; who asks again has them read again.
   */
  async use(): Promise<WeightsInUse> {
    const { format } = this;
    const needed = residentBytes(this.config, format, true);
    if (needed > this.memoryBytes) {
      const message = `the weights of scoring and training (${format}) take ${needed} bytes of memory`;
      throw new EngineError('memory_exceeded', `${message}, and there are ${this.memoryBytes}`);
    }
    clearTimeout(this.forgetting);
    this.users += 1;
    const loading = (this.loaded ??= this.load());
    try {
      return { format, feeds: await loading, release: () => this.release() };
    } catch (error) {
      if (this.loaded === loading) this.loaded = undefined;
      this.release();
      throw error;
    }
  }

  private async load(): Promise<Feeds> {
    const known = new Map([[embeddingName, this.embedding]]);
    const { config, reader, quantized } = this;
    const shapes = quantized === undefined ? decoderWeightShapes(config) : floatShapes(config);
    const floats = weightFeeds(config, await readWeights(reader, shapes, known), shapes);
    return quantized === undefined ? floats : { ...floats, ...(await blockFeeds(config, quantized)) };
  }

  private get format(): WeightFormat {
    return this.quantized?.format ?? 'f32';
  }

  private release(): void {
    this.users -= 1;
    if (this.users > 0) return;
    this.forgetting = setTimeout(() => (this.loaded = undefined), this.idleMs).unref();
  }
}

/** What graphs look up or add, and read as float32 in either format. */
function floatShapes(config: DecoderConfig): ReadonlyMap<string, readonly number[]> {
  const shapes = [...decoderWeightShapes(config)];
  return new Map(shapes.filter(([name, shape]) => shape.length === 1 || name === embeddingName));
}
