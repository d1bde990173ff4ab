/** Tensors as ONNX Runtime knows them (`OrtValue`): the same memory, described once. */
import type { Tensor, TensorData, Tensors } from './tensor.js';
import { made, runtime, type Pointer } from './runtime.js';

/** A tensor under the name that a graph has for it, as a run is given it. */
export interface NativeTensor {
  readonly name: string;
  /** Where the name is, as a C string. */
  readonly nameAddress: Pointer;
  readonly value: Pointer;
}

/** To be released when nothing runs with them any more. */
export class NativeTensors {
  readonly all: readonly NativeTensor[];

  /** @param kept whether more than one run is to have them. */
  constructor(
    /** Their memory, which must not be freed before. */
    readonly tensors: Tensors,
    readonly kept = false,
  ) {
    const all: NativeTensor[] = [];
    this.all = all;
    try {
      for (const [name, tensor] of Object.entries(tensors)) {
        all.push({ name, nameAddress: addressOfName(name), value: createValue(tensor) });
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    releaseAll(this.all);
  }
}

function releaseAll(natives: readonly NativeTensor[]): void {
  for (const { value } of natives) runtime().releaseValue(value);
}

/** Tensors that many runs are given: made known to ONNX Runtime once, for as long as somebody holds these. */
export class KeptTensors {
  readonly natives: NativeTensors;

  constructor(readonly tensors: Tensors) {
    this.natives = new NativeTensors(tensors, true);
    // Without the tensors, whose memory would be held until then.
    forgotten.register(this, this.natives.all);
  }
}

const forgotten = new FinalizationRegistry(releaseAll);

function createValue({ data, dims }: Tensor): Pointer {
  const { createTensorWithDataAsOrtValue, cpuMemory } = runtime();
  const shape = BigInt64Array.from(dims, BigInt);
  return made((out) =>
    createTensorWithDataAsOrtValue(cpuMemory, data, data.byteLength, shape, dims.length, elementType(data), out),
  );
}

/** `ONNXTensorElementDataType` */
function elementType(data: TensorData): number {
  if (data instanceof Float32Array) return 1;
  return data instanceof Int32Array ? 6 : 7;
}

/** C strings of the names of graphs' inputs and outputs, of which a model has a few hundred. */
const names = new Map<string, { readonly bytes: Uint8Array; readonly address: Pointer }>();

function addressOfName(name: string): Pointer {
  let known = names.get(name);
  if (known === undefined) {
    const bytes = Buffer.from(`${name}\0`);
    known = { bytes, address: runtime().addressOf(bytes) };
    names.set(name, known);
  }
  return known.address;
}
