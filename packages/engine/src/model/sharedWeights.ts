import { EngineError } from '../engine.js';
import { machineMemory } from '../machineMemory.js';
import { KeptTensors } from '../onnx/nativeTensors.js';
import { sharedFloats } from '../threadMemory.js';
import type { DecoderConfig } from './config.js';
import { tableFeeds, weightFeeds, type Feeds } from './inputs.js';
import { EMBEDDING, readWeights, sizeOf, weightBytes, type WeightReader, type WeightTensor } from './weights.js';

/** Scoring comes in bursts, between which the weights stay in memory. */
const IDLE_MS = 60_000;

/** The weights, for somebody who uses them. */
export interface WeightsInUse {
  /** See `weightFeeds`. */
  readonly feeds: Feeds;
  /** To be called once, when they are not used any more. */
  readonly release: () => void;
}

/**
 * A model's float32 weights: in memory while scoring or training uses them and for a minute after, and only where they are read from
 * at other times. Generation has copies of its own, arranged for its kernels or smaller, and needs nothing else but the tables.
 */
export class SharedWeights {
  private loaded: Promise<Feeds> | undefined;
  private users = 0;
  private forgetting: NodeJS.Timeout | undefined;

  private constructor(
    private readonly config: DecoderConfig,
    /** Also to be read piece by piece. */
    readonly reader: WeightReader,
    private readonly embedding: WeightTensor,
    private readonly idleMs: number,
    private readonly memoryBytes: number,
  ) {
    this.tables = new KeptTensors(tableFeeds(config, embedding));
  }

  /** What is looked up, see `tableFeeds`; always in memory. */
  readonly tables: KeptTensors;

  /** @throws EngineError `checkpoint_invalid` when the embedding cannot be read. */
  static async open(
    config: DecoderConfig,
    reader: WeightReader,
    idleMs = IDLE_MS,
    memoryBytes = machineMemory(),
  ): Promise<SharedWeights> {
    const shape = [config.vocabularySize, config.hiddenSize];
    const data = sharedFloats(sizeOf(shape));
    await reader.read(new Map([[EMBEDDING, data]]));
    return new SharedWeights(config, reader, { shape, data }, idleMs, memoryBytes);
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
    const needed = weightBytes(this.config);
    if (needed > this.memoryBytes) {
      const message = `scoring and training take the weights as float32, ${needed} bytes of memory, and there are ${this.memoryBytes}`;
      throw new EngineError('memory_exceeded', message);
    }
    clearTimeout(this.forgetting);
    this.users += 1;
    const loading = (this.loaded ??= this.load());
    try {
      return { feeds: await loading, release: () => this.release() };
    } catch (error) {
      if (this.loaded === loading) this.loaded = undefined;
      this.release();
      throw error;
    }
  }

  private async load(): Promise<Feeds> {
    const known = new Map([[EMBEDDING, this.embedding]]);
    return weightFeeds(this.config, await readWeights(this.reader, this.config, known));
  }

  private release(): void {
    this.users -= 1;
    if (this.users > 0) return;
    this.forgetting = setTimeout(() => (this.loaded = undefined), this.idleMs).unref();
  }
}
