/**
 * ONNX Runtime's C interface, as far as it is used here (`onnxruntime_c_api.h`): the library is that of the package
 * onnxruntime-node.
 *
 * The package's own binding takes each tensor of a run apart anew, by some thirty calls into JavaScript: 3 to 7 µs,
 * which for the hundred tensors of a step was a third of the time of a small model's answer. Here a tensor is made
 * known once.
 */
import koffi from 'koffi';
// On Windows it loads what the library itself needs, which lies beside it.
import 'onnxruntime-node';
import { libraryPath, openLibrary, POINTER, prototype, type Library, type Pointer } from './library.js';

/**
 * Set before ONNX Runtime begins: its packages for Linux and macOS report sessions, models and errors to Microsoft
 * otherwise (https://github.com/microsoft/onnxruntime/pull/27379).
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';

/**
 * Attention without ONNX Runtime's blocks, in which a row's numbers depend on who else is in its batch where threads
 * are more than heads. They were also slower: a step of eight rows with 1,500 tokens each took 1.5 to 1.9 times as long
 * with the shipped model (8 bits, one thread).
 */
process.env['ORT_GQA_DISABLE_FLASH_ATTENTION'] = '1';

export type { Pointer } from './library.js';

/** What most functions give: null, or an error to be read and released. */
type Status = Pointer | null;

/** Memory that a function reads or writes, as its address is taken from. */
type Memory = ArrayBufferView | Pointer | null;

/** The functions of ONNX Runtime that are called, with their parameters in order, and what all of them are given. */
export interface Runtime {
  readonly environment: Pointer;
  /** Says that tensors lie in the memory of this process. */
  readonly cpuMemory: Pointer;
  readonly allocator: Pointer;
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
  /** Where memory of the caller's is, as long as the caller has it. */
  readonly addressOf: (memory: ArrayBufferView) => Pointer;
  /** The text at an address, up to its zero. */
  readonly textAt: (address: Pointer) => string;
  /** Throws what a status says, and releases it. */
  readonly check: (status: Status) => void;
}

let loaded: Runtime | undefined;
/** It stays loaded while it is referred to. */
let library: Library | undefined;

/** The library is loaded when it is first asked for. */
export function runtime(): Runtime {
  return (loaded ??= load());
}

/** What a function writes: the address of what it makes, or a number. */
export function written(write: (out: Memory) => Status): Pointer {
  return writtenBy(write, runtime().check);
}

/** Read right after it is written. */
const out = new BigUint64Array(1);

function writtenBy(write: (out: Memory) => Status, check: (status: Status) => void): Pointer {
  check(write(out));
  return out[0] ?? 0n;
}

/** Errors and worse, of ONNX Runtime's own log. */
export const LOG_ERRORS = 3;
/**
 * `OrtArenaAllocator` and `OrtMemTypeDefault`: how the binding of onnxruntime-node describes the memory of typed
 * arrays.
 */
const ARENA_ALLOCATOR = 1;
const DEFAULT_MEMORY = 0;

function load(): Runtime {
  library = openLibrary(libraryPath());
  const { table } = library;
  const declare = (place: number, parameters: readonly string[], result = POINTER): unknown =>
    koffi.decode(table[place], prototype(result, parameters));

  const getErrorMessage = declare(2, [POINTER], 'str') as (status: Pointer) => string;
  const releaseStatus = declare(93, [POINTER], 'void') as (status: Pointer) => void;
  const check = (status: Status): void => {
    if (status === null) return;
    const message = getErrorMessage(status);
    releaseStatus(status);
    throw new Error(message);
  };
  const createEnvironment = declare(3, ['int', 'str', POINTER]) as (level: number, name: string, out: Memory) => Status;
  const createCpuMemoryInfo = declare(69, ['int', 'int', POINTER]) as (
    type: number,
    kind: number,
    out: Memory,
  ) => Status;
  const getAllocator = declare(78, [POINTER]) as (out: Memory) => Status;
  return {
    environment: writtenBy((place) => createEnvironment(LOG_ERRORS, 'engraft', place), check),
    cpuMemory: writtenBy((place) => createCpuMemoryInfo(ARENA_ALLOCATOR, DEFAULT_MEMORY, place), check),
    allocator: writtenBy(getAllocator, check),
    createSessionFromArray: declare(8, [
      POINTER,
      POINTER,
      'size_t',
      POINTER,
      POINTER,
    ]) as Runtime['createSessionFromArray'],
    createSessionFromArrayWithPrepackedWeightsContainer: declare(169, [
      POINTER,
      POINTER,
      'size_t',
      POINTER,
      POINTER,
      POINTER,
    ]) as Runtime['createSessionFromArrayWithPrepackedWeightsContainer'],
    createPrepackedWeightsContainer: declare(166, [POINTER]) as Runtime['createPrepackedWeightsContainer'],
    run: declare(9, [POINTER, POINTER, POINTER, POINTER, 'size_t', POINTER, 'size_t', POINTER]) as Runtime['run'],
    createSessionOptions: declare(10, [POINTER]) as Runtime['createSessionOptions'],
    disableMemPattern: declare(17, [POINTER]) as Runtime['disableMemPattern'],
    setSessionLogSeverityLevel: declare(22, [POINTER, 'int']) as Runtime['setSessionLogSeverityLevel'],
    setIntraOpNumThreads: declare(24, [POINTER, 'int']) as Runtime['setIntraOpNumThreads'],
    setInterOpNumThreads: declare(25, [POINTER, 'int']) as Runtime['setInterOpNumThreads'],
    sessionGetInputCount: declare(30, [POINTER, POINTER]) as Runtime['sessionGetInputCount'],
    sessionGetInputName: declare(36, [POINTER, 'size_t', POINTER, POINTER]) as Runtime['sessionGetInputName'],
    createTensorWithDataAsOrtValue: declare(49, [
      POINTER,
      POINTER,
      'size_t',
      POINTER,
      'size_t',
      'int',
      POINTER,
    ]) as Runtime['createTensorWithDataAsOrtValue'],
    allocatorFree: declare(76, [POINTER, POINTER]) as Runtime['allocatorFree'],
    releaseSession: declare(95, [POINTER], 'void') as Runtime['releaseSession'],
    releaseValue: declare(96, [POINTER], 'void') as Runtime['releaseValue'],
    releasePrepackedWeightsContainer: declare(167, [POINTER], 'void') as Runtime['releasePrepackedWeightsContainer'],
    releaseSessionOptions: declare(100, [POINTER], 'void') as Runtime['releaseSessionOptions'],
    addSessionConfigEntry: declare(130, [POINTER, 'str', 'str']) as Runtime['addSessionConfigEntry'],
    addInitializer: declare(150, [POINTER, POINTER, POINTER]) as Runtime['addInitializer'],
    addExternalInitializers: declare(210, [POINTER, POINTER, POINTER, 'size_t']) as Runtime['addExternalInitializers'],
    addExternalInitializersFromFilesInMemory: declare(279, [
      POINTER,
      POINTER,
      POINTER,
      POINTER,
      'size_t',
    ]) as Runtime['addExternalInitializersFromFilesInMemory'],
    addressOf: (memory) => koffi.address(memory),
    textAt: (address) => koffi.decode.string(address),
    check,
  };
}
