/** Constants of several sessions, also of other threads, in memory once (`OrtPrepackedWeightsContainer`). */
import { KeptTensors, type NativeTensors } from './nativeTensors.js';
import { runtime, written, type Pointer } from './runtime.js';
import type { Tensors } from './tensor.js';

/**
 * Numbers that stay where they are, and what ONNX Runtime has arranged of them for its kernels, which the sessions that were made with these
 * constants read. A session has those of its graph's external constants that it finds here.
 */
export class SharedConstants {
  private readonly kept: KeptTensors;
  private readonly indices: ReadonlyMap<string, number>;

  private constructor(
    /** Of ONNX Runtime's; the same in every thread. */
    readonly container: Pointer,
    tensors: Tensors,
  ) {
    this.kept = new KeptTensors(tensors);
    this.indices = new Map(this.kept.natives.tensors.map(([name], index) => [name, index]));
  }

  /** To be released, or forgotten, after the sessions that have them. */
  static create(tensors: Tensors): SharedConstants {
    const constants = new SharedConstants(written(runtime().createPrepackedWeightsContainer), tensors);
    forgotten.register(constants, constants.container, constants);
    return constants;
  }

  /** Those of another thread, which releases them, over the same numbers. */
  static ofThread(container: Pointer, tensors: Tensors): SharedConstants {
    return new SharedConstants(container, tensors);
  }

  /**
   * Where the names of some of them are, and the tensors.
   * @throws Error naming one that is not here.
   */
  chosen(names: readonly string[]): Pick<NativeTensors, 'names' | 'values'> {
    const { natives } = this.kept;
    const indices = names.map((name) => {
      const index = this.indices.get(name);
      if (index === undefined) throw new Error(`there is no constant ${name}`);
      return index;
    });
    const at = (addresses: BigUint64Array): BigUint64Array =>
      BigUint64Array.from(indices, (index) => addresses[index] ?? 0n);
    return { names: at(natives.names), values: at(natives.values) };
  }

  /** Frees what has been arranged; to be called once. */
  release(): void {
    forgotten.unregister(this);
    runtime().releasePrepackedWeightsContainer(this.container);
  }
}

const forgotten = new FinalizationRegistry((container: Pointer) => {
  runtime().releasePrepackedWeightsContainer(container);
});
