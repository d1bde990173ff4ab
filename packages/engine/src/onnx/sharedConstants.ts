/** Constants of several sessions, also of other threads, in memory once (`OrtPrepackedWeightsContainer`). */
import { runtime, written, type Pointer } from './runtime.js';
import type { Tensor, Tensors } from './tensor.js';

/**
 * Numbers that stay where they are, and what ONNX Runtime has arranged of them for its kernels, which the sessions that
 * were made with these constants read.
 */
export class SharedConstants {
  private constructor(
    /** ONNX Runtime's container of prepacked weights; the same in every thread. */
    readonly container: Pointer,
    private readonly tensors: Tensors,
  ) {}

  /** Release it after the sessions that use it, or drop it once nothing runs in those sessions any more. */
  static create(tensors: Tensors): SharedConstants {
    const constants = new SharedConstants(written(runtime().createPrepackedWeightsContainer), tensors);
    forgotten.register(constants, constants.container, constants);
    return constants;
  }

  /** The constants of another thread, which releases them, over the same numbers. */
  static ofThread(container: Pointer, tensors: Tensors): SharedConstants {
    return new SharedConstants(container, tensors);
  }

  /** @throws Error naming one that is not here. */
  chosen(names: readonly string[]): readonly (readonly [string, Tensor])[] {
    return names.map((name) => {
      const tensor = this.tensors[name];
      if (tensor === undefined) throw new Error(`there is no constant ${name}`);
      return [name, tensor];
    });
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
