import { EngineError } from '../engine.js';
import { machineMemory } from '../support/machineMemory.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import { sharedFloats } from '../support/threadMemory.js';
import { elementCount } from '../support/numbers.js';
import type { DecoderConfig } from './config.js';
import { blockFeeds } from './blockFeeds.js';
import { tableFeeds, weightFeeds, type Feeds } from './inputs.js';
import { residentBytes } from './residentBytes.js';
import type { WeightFormat } from './quantization.js';
import type { QuantizedWeights } from './servingWeights.js';
import { decoderWeightShapes, embeddingName, readWeights, type WeightReader, type WeightTensor } from './weights.js';

/** Scoring comes in bursts. The weights stay in memory between them. */
const defaultIdleMs = 60_000;

export interface SharedWeightsOptions {
  readonly idleMs?: number;
  /** The machine's memory. */
  readonly memoryBytes?: number;
  /** Present if the matrices are to be quantised. */
  readonly quantized?: QuantizedWeights | undefined;
}

/** The weights while somebody uses them. */
export interface WeightsInUse {
  /** How graphs are fed the matrices. */
  readonly format: WeightFormat;
  /** See `weightFeeds` and, for quantised matrices, `blockFeeds`. */
  readonly feeds: Feeds;
  /** Call it once, after the last use. */
  readonly release: () => void;
}

/**
 * A model's weights, with float32 or quantised matrices. They are in memory while scoring or training uses them and for
 * a minute after. Generation has arranged copies of its own and needs only the tables besides.
 */
export class SharedWeights {
  private loaded: Promise<Feeds> | undefined;
  private users = 0;
  private forgetting: NodeJS.Timeout | undefined;

  private constructor(
    private readonly config: DecoderConfig,
    /** Reads the weights piece by piece. */
    readonly reader: WeightReader,
    private readonly embedding: WeightTensor,
    private readonly idleMs: number,
    private readonly memoryBytes: number,
    private readonly quantized: QuantizedWeights | undefined,
  ) {
    this.tables = new RegisteredTensors(tableFeeds(config, embedding));
  }

  /** The tables for look-ups, see `tableFeeds`. Always in memory. */
  readonly tables: RegisteredTensors;

  /** @throws EngineError `checkpoint_invalid` when the embedding cannot be read. */
  static async open(
    config: DecoderConfig,
    reader: WeightReader,
    { idleMs = defaultIdleMs, memoryBytes = machineMemory(), quantized }: SharedWeightsOptions = {},
  ): Promise<SharedWeights> {
    const shape = [config.vocabularySize, config.hiddenSize];
    const data = sharedFloats(elementCount(shape));
    await reader.read(new Map([[embeddingName, data]]));
    return new SharedWeights(config, reader, { shape, data }, idleMs, memoryBytes, quantized);
  }

  /** Whether all weights are in memory or being read. */
  get inMemory(): boolean {
    return this.loaded !== undefined;
  }

  /**
   * @throws EngineError `memory_exceeded` when they do not fit in memory, even if those of generation do;
   *   `checkpoint_invalid` when they cannot be read. The next call reads them again.
   */
  async use(): Promise<WeightsInUse> {
    const { format } = this;
    const needed = residentBytes(this.config, format, true);
    if (needed > this.memoryBytes) {
      const message = `the weights of scoring and training (${format}) take ${needed} bytes of memory`;
      const advice = format === 'f32' ? '; the weight format q8 or q4 takes less' : '';
      throw new EngineError('memory_exceeded', `${message}, and there are ${this.memoryBytes}${advice}`);
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

/** Tables and vectors, which are float32 in either format. */
function floatShapes(config: DecoderConfig): ReadonlyMap<string, readonly number[]> {
  const shapes = [...decoderWeightShapes(config)];
  return new Map(shapes.filter(([name, shape]) => shape.length === 1 || name === embeddingName));
}
