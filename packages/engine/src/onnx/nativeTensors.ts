/** Tensors as ONNX Runtime sees them (`OrtValue`): the same memory, described once. */
import { runtime, written, type Pointer } from './runtime.js';
import { maxDimensions, type Tensor, type Tensors } from './tensor.js';

/** Release them when no run uses them any more. */
export class NativeTensors {
  /** The address of each name, as a C string. */
  readonly names: BigUint64Array;
  readonly values: BigUint64Array;

  constructor(
    /** Their memory must not be freed before the last run that uses them. */
    readonly tensors: readonly (readonly [string, Tensor])[],
    /** Whether several runs use them. */
    readonly registered: boolean,
  ) {
    this.names = BigUint64Array.from(tensors, ([name]) => addressOfName(name));
    this.values = new BigUint64Array(tensors.length);
    try {
      for (const [index, [, tensor]] of tensors.entries()) this.values[index] = createValue(tensor);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    releaseAll(this.values);
  }
}

function releaseAll(values: BigUint64Array): void {
  for (const value of values) if (value !== 0n) runtime().releaseValue(value);
}

/**
 * Tensors for many runs. ONNX Runtime is told of them once, and knows them for as long as somebody holds this object.
 */
export class RegisteredTensors {
  readonly natives: NativeTensors;

  constructor(readonly tensors: Tensors) {
    this.natives = new NativeTensors(Object.entries(tensors), true);
    // A registered value lives until the next full garbage collection, so it must not hold the tensors' memory.
    const { values } = this.natives;
    collected.register(values, values.slice());
  }
}

const collected = new FinalizationRegistry(releaseAll);

/** All values share this memory, because ONNX Runtime reads a shape at once. */
const shape = new BigInt64Array(maxDimensions);

function createValue(tensor: Tensor): Pointer {
  const { data, dims } = tensor;
  const { createTensorWithDataAsOrtValue, cpuMemory } = runtime();
  for (const [axis, length] of dims.entries()) shape[axis] = BigInt(length);
  return written((out) =>
    createTensorWithDataAsOrtValue(cpuMemory, data, data.byteLength, shape, dims.length, elementType(tensor), out),
  );
}

/** `ONNXTensorElementDataType` */
function elementType({ data, numbersPerItem }: Tensor): number {
  if (data instanceof Float32Array) return 1;
  if (data instanceof Int8Array) return numbersPerItem === 2 ? 22 : 3;
  return data instanceof Int32Array ? 6 : 7;
}

/** C strings of the names of graph inputs and outputs. A model has a few hundred. */
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
