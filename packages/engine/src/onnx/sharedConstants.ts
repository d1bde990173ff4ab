/** Constants of several sessions, even in several threads, in memory once (`OrtPrepackedWeightsContainer`). */
import { runtime, written, type Pointer } from './runtime.js';
import type { Tensor, Tensors } from './tensor.js';

/**
 * Numbers that stay in place, and the arranged copies that ONNX Runtime makes of them for its kernels. Sessions made
 * with these constants share the copies.
 */
export class SharedConstants {
  private constructor(
    /** ONNX Runtime's container of prepacked weights. It is the same in every thread. */
    readonly container: Pointer,
    private readonly tensors: Tensors,
  ) {}

  /** Release it after the sessions that use it, or drop it once nothing runs in those sessions. */
  static create(tensors: Tensors): SharedConstants {
    const constants = new SharedConstants(written(runtime().createPrepackedWeightsContainer), tensors);
    collected.register(constants, constants.container, constants);
    return constants;
  }

  /** The constants of another thread over the same numbers. The other thread releases them. */
  static ofThread(container: Pointer, tensors: Tensors): SharedConstants {
    return new SharedConstants(container, tensors);
  }

  /** @throws Error naming a constant that is missing. */
  chosen(names: readonly string[]): readonly (readonly [string, Tensor])[] {
    return names.map((name) => {
      const tensor = this.tensors[name];
      if (tensor === undefined) throw new Error(`there is no constant ${name}`);
      return [name, tensor];
    });
  }

  /** Frees the arranged copies. Call it once. */
  release(): void {
    collected.unregister(this);
    runtime().releasePrepackedWeightsContainer(this.container);
  }
}

const collected = new FinalizationRegistry((container: Pointer) => {
  runtime().releasePrepackedWeightsContainer(container);
});
