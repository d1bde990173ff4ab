/**
 * ONNX Runtime's C interface, as far as it is used here (`onnxruntime_c_api.h`). The library is that of the package
 * onnxruntime-node.
 *
 * That package's own binding takes each tensor of each run apart by some thirty calls into JavaScript, 3 to 7 µs. For
 * the hundred tensors of a step that was a third of the time of a small model's answer. Here ONNX Runtime is told of a
 * tensor once.
 */
import koffi from 'koffi';
// On Windows this loads the library's own dependencies, which lie beside it.
import 'onnxruntime-node';
import { libraryPath, openLibrary, pointerType as pointer, prototype, type Library, type Pointer } from './library.js';

/**
 * Must be set before ONNX Runtime starts. Otherwise its packages for Linux and macOS report sessions, models and errors
 * to Microsoft (https://github.com/microsoft/onnxruntime/pull/27379).
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';

/**
 * Switches off attention in blocks ("flash attention"). There a row's numbers depend on its batch when there are more
 * threads than heads. It was also slower: a step of eight rows with 1,500 tokens each took 1.5 to 1.9 times as long
 * with the shipped model (8 bits, one thread).
 */
process.env['ORT_GQA_DISABLE_FLASH_ATTENTION'] = '1';

export type { Pointer } from './library.js';

/** The result of most functions: null, or an error that must be read and released. */
type Status = Pointer | null;

/** Memory whose address is passed to a function. */
type Memory = ArrayBufferView | Pointer | null;

/** The ONNX Runtime functions in use, with their parameters in order. */
interface OrtFunctions {
  readonly createSessionFromArray: (env: Pointer, model: Memory, size: number, options: Pointer, out: Memory) => Status;
  readonly createSessionFromArrayWithPrepackedWeightsContainer: (
    env: Pointer,
    model: Memory,
    size: number,
    options: Pointer,
    container: Pointer,
    out: Memory,
  ) => Status;
  readonly createPrepackedWeightsContainer: (out: Memory) => Status;
  readonly run: (
    session: Pointer,
    options: null,
    inputNames: Memory,
    inputs: Memory,
    inputCount: number,
    outputNames: Memory,
    outputCount: number,
    outputs: Memory,
  ) => Status;
  readonly createSessionOptions: (out: Memory) => Status;
  readonly disableMemPattern: (options: Pointer) => Status;
  readonly setSessionLogSeverityLevel: (options: Pointer, level: number) => Status;
  readonly setIntraOpNumThreads: (options: Pointer, threads: number) => Status;
  readonly setInterOpNumThreads: (options: Pointer, threads: number) => Status;
  readonly addSessionConfigEntry: (options: Pointer, key: string, value: string) => Status;
  readonly addInitializer: (options: Pointer, name: Memory, value: Pointer) => Status;
  readonly addExternalInitializers: (options: Pointer, names: Memory, values: Memory, count: number) => Status;
  readonly addExternalInitializersFromFilesInMemory: (
    options: Pointer,
    names: Memory,
    contents: Memory,
    lengths: Memory,
    count: number,
  ) => Status;
  readonly sessionGetInputCount: (session: Pointer, out: Memory) => Status;
  readonly sessionGetInputName: (session: Pointer, index: number, allocator: Pointer, out: Memory) => Status;
  readonly createTensorWithDataAsOrtValue: (
    memory: Pointer,
    data: Memory,
    bytes: number,
    shape: Memory,
    rank: number,
    elementType: number,
    out: Memory,
  ) => Status;
  readonly allocatorFree: (allocator: Pointer, memory: Pointer) => Status;
  readonly releaseSession: (session: Pointer) => void;
  readonly releaseSessionOptions: (options: Pointer) => void;
  readonly releaseValue: (value: Pointer) => void;
  readonly releasePrepackedWeightsContainer: (container: Pointer) => void;
}

/** The functions, and the handles that all of them need. */
export interface Runtime extends OrtFunctions {
  readonly environment: Pointer;
  /** Describes tensors in this process's memory. */
  readonly cpuMemory: Pointer;
  readonly allocator: Pointer;
  /** The address of a caller's memory. Valid while the caller holds it. */
  readonly addressOf: (memory: ArrayBufferView) => Pointer;
  /** The text at an address, up to its terminating zero. */
  readonly textAt: (address: Pointer) => string;
  /** Throws the error of a status and releases it. */
  readonly check: (status: Status) => void;
}

let loaded: Runtime | undefined;
/** Referring to it keeps the library loaded. */
let library: Library | undefined;

/** Loads the library on first use. */
export function runtime(): Runtime {
  return (loaded ??= load());
}

/** Returns what a function writes: the address of what it makes, or a number. */
export function written(write: (out: Memory) => Status): Pointer {
  return writtenBy(write, runtime().check);
}

/** Read right after it is written. */
const out = new BigUint64Array(1);

function writtenBy(write: (out: Memory) => Status, check: (status: Status) => void): Pointer {
  check(write(out));
  return out[0] ?? 0n;
}

/** The log level of errors and worse. */
export const logErrors = 3;
/** `OrtArenaAllocator` and `OrtMemTypeDefault`, with which the binding of onnxruntime-node describes typed arrays. */
const arenaAllocator = 1;
const defaultMemory = 0;

/**
 * A function's index in the table, a type of C for each of its parameters, and its result, which is a status unless it
 * has none.
 */
type Signature<F extends (...parameters: never[]) => unknown> =
  ReturnType<F> extends Status
    ? readonly [place: number, parameters: CTypes<Parameters<F>>]
    : readonly [place: number, parameters: CTypes<Parameters<F>>, result: 'void'];
type CTypes<Values extends readonly unknown[]> = { readonly [Index in keyof Values]: string };

const signatures: { readonly [Name in keyof OrtFunctions]: Signature<OrtFunctions[Name]> } = {
  createSessionFromArray: [8, [pointer, pointer, 'size_t', pointer, pointer]],
  createSessionFromArrayWithPrepackedWeightsContainer: [169, [pointer, pointer, 'size_t', pointer, pointer, pointer]],
  createPrepackedWeightsContainer: [166, [pointer]],
  run: [9, [pointer, pointer, pointer, pointer, 'size_t', pointer, 'size_t', pointer]],
  createSessionOptions: [10, [pointer]],
  disableMemPattern: [17, [pointer]],
  setSessionLogSeverityLevel: [22, [pointer, 'int']],
  setIntraOpNumThreads: [24, [pointer, 'int']],
  setInterOpNumThreads: [25, [pointer, 'int']],
  sessionGetInputCount: [30, [pointer, pointer]],
  sessionGetInputName: [36, [pointer, 'size_t', pointer, pointer]],
  createTensorWithDataAsOrtValue: [49, [pointer, pointer, 'size_t', pointer, 'size_t', 'int', pointer]],
  allocatorFree: [76, [pointer, pointer]],
  releaseSession: [95, [pointer], 'void'],
  releaseValue: [96, [pointer], 'void'],
  releasePrepackedWeightsContainer: [167, [pointer], 'void'],
  releaseSessionOptions: [100, [pointer], 'void'],
  addSessionConfigEntry: [130, [pointer, 'str', 'str']],
  addInitializer: [150, [pointer, pointer, pointer]],
  addExternalInitializers: [210, [pointer, pointer, pointer, 'size_t']],
  addExternalInitializersFromFilesInMemory: [279, [pointer, pointer, pointer, pointer, 'size_t']],
};

function load(): Runtime {
  library = openLibrary(libraryPath());
  const { table } = library;
  const declare = (place: number, parameters: readonly string[], result = pointer): unknown =>
    koffi.decode(table[place], prototype(result, parameters));
  const getErrorMessage = declare(2, [pointer], 'str') as (status: Pointer) => string;
  const releaseStatus = declare(93, [pointer], 'void') as (status: Pointer) => void;
  const check = (status: Status): void => {
    if (status === null) return;
    const message = getErrorMessage(status);
    releaseStatus(status);
    throw new Error(message);
  };
  const createEnvironment = declare(3, ['int', 'str', pointer]) as (level: number, name: string, out: Memory) => Status;
  const createCpuMemoryInfo = declare(69, ['int', 'int', pointer]) as (
    type: number,
    kind: number,
    out: Memory,
  ) => Status;
  const getAllocator = declare(78, [pointer]) as (out: Memory) => Status;
  const entries = Object.entries<readonly [number, readonly string[], 'void'?]>(signatures);
  const functions = entries.map(([name, signature]) => [name, declare(...signature)] as const);
  return {
    // Koffi knows no types of TypeScript; `signatures` has one entry for each function.
    ...(Object.fromEntries(functions) as unknown as OrtFunctions),
    environment: writtenBy((place) => createEnvironment(logErrors, 'engraft', place), check),
    cpuMemory: writtenBy((place) => createCpuMemoryInfo(arenaAllocator, defaultMemory, place), check),
    allocator: writtenBy(getAllocator, check),
    addressOf: (memory) => koffi.address(memory),
    textAt: (address) => koffi.decode.string(address),
    check,
  };
}
