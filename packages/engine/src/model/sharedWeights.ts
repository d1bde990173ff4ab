import { EngineError } from '../engine.js';
import { machineMemory } from '../support/machineMemory.js';
import { RegisteredTensors } from '../onnx/nativeTensors.js';
import type { Tensor } from '../onnx/tensor.js';
import { collectGarbage } from '../support/collectGarbage.js';
import { sharedFloats } from '../support/threadMemory.js';
import { elementCount } from '../support/numbers.js';
import type { DecoderConfig } from './config.js';
import { blockFeeds } from './blockFeeds.js';
import { tableFeeds, weightFeeds, type Feeds } from './inputs.js';
import { residentBytes } from './residentBytes.js';
import { integerFeeds } from './integerCodes.js';
import { matrices } from './quantizedWeights.js';
import type { MatrixFormat, WeightFormat } from './quantization.js';
import type { QuantizedWeights } from './servingWeights.js';
import {
  decoderWeightShapes,
  embeddingName,
  headName,
  readWeights,
  type WeightReader,
  type WeightTensor,
} from './weights.js';

/** Scoring comes in bursts. The weights stay in memory between them, but not for long beside a training. */
const defaultIdleMs = 10_000;

export interface SharedWeightsOptions {
  readonly idleMs?: number;
  /** The machine's memory. */
  readonly memoryBytes?: number;
  /** Present if the matrices are to be quantised. */
  readonly quantized?: QuantizedWeights | undefined;
  /** Whether float32 matrices are computed with in 8-bit integers, see `IntegerMatrix`. By default false. */
  readonly inIntegers?: boolean;
}

/** The weights while somebody uses them. */
export interface WeightsInUse {
  /** How graphs are fed the matrices. */
  readonly format: MatrixFormat;
  /** See `weightFeeds` and, for quantised matrices, `blockFeeds`. */
  readonly feeds: Feeds;
  /** Call it once, after the last use. */
  readonly release: () => void;
}

/**
 * A model's weights, with float32 or quantised matrices. They are in memory while scoring or training uses them and for
 * ten seconds after, unless the memory is wanted before. Generation has arranged copies of its own and needs only the
 * tables besides.
 */
export class SharedWeights {
  private loaded: Promise<Feeds> | undefined;
  private users = 0;
  private forgetting: NodeJS.Timeout | undefined;
  private readonly onForgotten = new Set<() => Promise<void>>();

  private constructor(
    private readonly config: DecoderConfig,
    /** Reads the weights piece by piece. */
    readonly reader: WeightReader,
    private readonly embedding: WeightTensor,
    private readonly idleMs: number,
    private readonly memoryBytes: number,
    private readonly quantized: QuantizedWeights | undefined,
    private readonly inIntegers: boolean,
  ) {
    this.tables = new RegisteredTensors(tableFeeds(config, embedding));
  }

  /** The tables for look-ups, see `tableFeeds`. Always in memory. */
  readonly tables: RegisteredTensors;

  /** @throws EngineError `checkpoint_invalid` when the embedding cannot be read. */
  static async open(
    config: DecoderConfig,
    reader: WeightReader,
    { idleMs = defaultIdleMs, memoryBytes = machineMemory(), quantized, inIntegers = false }: SharedWeightsOptions = {},
  ): Promise<SharedWeights> {
    const shape = [config.vocabularySize, config.hiddenSize];
    const data = sharedFloats(elementCount(shape));
    await reader.read(new Map([[embeddingName, data]]));
    const codes = inIntegers && quantized === undefined;
    return new SharedWeights(config, reader, { shape, data }, idleMs, memoryBytes, quantized, codes);
  }

  /** Calls `free` whenever the weights are forgotten, for what is of use with them only. */
  whenForgotten(free: () => Promise<void>): void {
    this.onForgotten.add(free);
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
      const used = this.inIntegers ? 'integers' : format;
      return { format: used, feeds: await loading, release: () => this.release() };
    } catch (error) {
      if (this.loaded === loading) this.loaded = undefined;
      this.release();
      throw error;
    }
  }

  private async load(): Promise<Feeds> {
    const known = new Map([[embeddingName, this.embedding]]);
    const { config, reader, quantized, inIntegers } = this;
    const coded = quantized !== undefined ? matrices(config) : inIntegers ? projections(config) : [];
    const shapes = floatShapes(config, coded);
    const floats = weightFeeds(config, await readWeights(reader, shapes, known), shapes);
    if (quantized !== undefined) return { ...floats, ...(await blockFeeds(config, quantized)) };
    return inIntegers ? { ...floats, ...(await this.integers()) } : floats;
  }

  /** One matrix after another is float32 while it is coded. */
  private async integers(): Promise<Feeds> {
    const feeds: Record<string, Tensor> = {};
    for (const [name, shape] of projections(this.config)) {
      const data = new Float32Array(elementCount(shape));
      await this.reader.read(new Map([[name, data]]));
      Object.assign(feeds, integerFeeds(name, data, shape));
    }
    return feeds;
  }

  private get format(): WeightFormat {
    return this.quantized?.format ?? 'f32';
  }

  /** Forgets the weights at once if nobody uses them. */
  async forgetUnused(): Promise<void> {
    if (this.users > 0 || this.loaded === undefined) return;
    clearTimeout(this.forgetting);
    await this.forget();
  }

  private release(): void {
    this.users -= 1;
    if (this.users > 0) return;
    this.forgetting = setTimeout(() => void this.forget(), this.idleMs).unref();
  }

  private async forget(): Promise<void> {
    this.loaded = undefined;
    await Promise.all([...this.onForgotten].map((free) => free()));
    collectGarbage();
  }
}

type NamedShapes = readonly (readonly [string, readonly [number, number]])[];

/** Probabilities span more orders of magnitude than 8 bits do, so the head has no codes. */
function projections(config: DecoderConfig): NamedShapes {
  return matrices(config).filter(([name]) => name !== headName(config));
}

/** All but the coded matrices. The embedding is looked up, even where it is the head as well. */
function floatShapes(config: DecoderConfig, coded: NamedShapes): ReadonlyMap<string, readonly number[]> {
  const isCoded = new Set(coded.map(([name]) => name));
  const shapes = [...decoderWeightShapes(config)];
  return new Map(shapes.filter(([name]) => name === embeddingName || !isCoded.has(name)));
}
