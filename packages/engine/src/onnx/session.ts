/** Sessions of ONNX Runtime: graphs that are ready to run, all with the same settings. */
import { setImmediate } from 'node:timers/promises';
import { markProgress } from '../support/progress.js';
import { sum } from '../support/numbers.js';
import { RegisteredTensors, NativeTensors } from './nativeTensors.js';
import { logErrors, runtime, written, type Pointer } from './runtime.js';
import type { SharedConstants } from './sharedConstants.js';
import type { Tensors } from './tensor.js';

export interface SessionOptions {
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
  /**
   * The graph's external constants: their bytes, or a folder with a file named after each constant, or shared
   * constants. ONNX Runtime keeps copies that it arranges for its kernels. It reads files one at a time, so that their
   * bytes are never all in memory beside the copies. All sessions have one copy of shared constants, except while a
   * session is being made.
   */
  readonly constants?: ReadonlyMap<string, Uint8Array> | { readonly folder: string } | ChosenConstants;
}

/** The constants of one graph, out of all shared constants. */
export interface ChosenConstants {
  readonly constants: SharedConstants;
  readonly names: readonly string[];
}

/** Options of the sessions being made. Nothing else may keep their constants from being collected. */
const inUse = new Set<SessionOptions>();

/** The time for which a thread spins for the next operator before it sleeps and must be woken. */
const spinUs = 10;

/** Tensors by their names in a graph. Register tensors that many runs use. */
export type NamedTensors = Tensors | RegisteredTensors;

/** A graph that is ready to run. */
export class Session {
  readonly inputNames: readonly string[];
  private readonly inputs: ReadonlySet<string>;
  /** ONNX Runtime's own session, until it is released. */
  private handle: Pointer | undefined;

  private constructor(
    handle: Pointer,
    inputNames: readonly string[],
    /** Constants that no kernel wanted arranged are read from this memory for the session's lifetime. */
    readonly shared: SharedConstants | undefined,
  ) {
    this.handle = handle;
    this.inputNames = inputNames;
    this.inputs = new Set(inputNames);
    collected.register(this, handle, this);
  }

  /** Loading and running block the calling thread. */
  static async create(model: Uint8Array, options: SessionOptions): Promise<Session> {
    await setImmediate();
    const { createSessionOptions, releaseSession, releaseSessionOptions } = runtime();
    const settings = written(createSessionOptions);
    // The settings hold only the addresses of the constants.
    inUse.add(options);
    const shared = sharedOf(options);
    let described: NativeTensors | undefined;
    try {
      configure(settings, options);
      if (shared !== undefined) {
        described = new NativeTensors(shared.constants.chosen(shared.names), false);
        shareConstants(settings, described);
      }
      const handle = createHandle(model, settings, shared?.constants);
      try {
        return new Session(handle, inputNamesOf(handle), shared?.constants);
      } catch (error) {
        releaseSession(handle);
        throw error;
      }
    } finally {
      described?.release();
      inUse.delete(options);
      releaseSessionOptions(settings);
      markProgress();
    }
  }

  /**
   * Computes results and writes them into the given tensors. A result may use the memory of an input if its operator
   * allows that.
   * @param feeds each input of the graph once. Tensors without an input are ignored unless they are registered.
   * @throws Error with ONNX Runtime's message, for instance about a missing input or a result of another shape.
   */
  async run(feeds: readonly NamedTensors[], results: readonly NamedTensors[]): Promise<void> {
    // Others get their turn between runs.
    await setImmediate();
    if (this.handle === undefined) throw new Error('the session has been released');
    const inputs: NativeTensors[] = [];
    const outputs: NativeTensors[] = [];
    try {
      for (const tensors of feeds) inputs.push(this.fed(tensors));
      for (const tensors of results) outputs.push(nativesOf(tensors));
      const { run, check } = runtime();
      const [inputNames, inputValues] = [joined(inputs.map(namesOf)), joined(inputs.map(valuesOf))];
      const [outputNames, outputValues] = [joined(outputs.map(namesOf)), joined(outputs.map(valuesOf))];
      const [inputCount, outputCount] = [inputNames.length, outputNames.length];
      check(run(this.handle, null, inputNames, inputValues, inputCount, outputNames, outputCount, outputValues));
    } finally {
      // Up to here these objects hold the memory of tensors that nobody else holds.
      for (const natives of [...inputs, ...outputs]) if (!natives.registered) natives.release();
      markProgress();
    }
  }

  /** Frees its memory. Nothing may be running in it. */
  release(): void {
    if (this.handle === undefined) return;
    collected.unregister(this);
    runtime().releaseSession(this.handle);
    this.handle = undefined;
  }

  private fed(tensors: NamedTensors): NativeTensors {
    if (tensors instanceof RegisteredTensors) return tensors.natives;
    return new NativeTensors(
      Object.entries(tensors).filter(([name]) => this.inputs.has(name)),
      false,
    );
  }
}

function sharedOf({ constants }: SessionOptions): ChosenConstants | undefined {
  return constants !== undefined && 'names' in constants ? constants : undefined;
}

function createHandle(model: Uint8Array, settings: Pointer, shared: SharedConstants | undefined): Pointer {
  const {
    environment,
    createSessionFromArray: create,
    createSessionFromArrayWithPrepackedWeightsContainer: createSharing,
  } = runtime();
  return written((out) =>
    shared === undefined
      ? create(environment, model, model.byteLength, settings, out)
      : createSharing(environment, model, model.byteLength, settings, shared.container, out),
  );
}

/** Releases sessions that were not released. */
const collected = new FinalizationRegistry((handle: Pointer) => runtime().releaseSession(handle));

function nativesOf(tensors: NamedTensors): NativeTensors {
  return tensors instanceof RegisteredTensors ? tensors.natives : new NativeTensors(Object.entries(tensors), false);
}

function namesOf({ names }: NativeTensors): BigUint64Array {
  return names;
}

function valuesOf({ values }: NativeTensors): BigUint64Array {
  return values;
}

function joined(parts: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(sum(parts.map(({ length }) => length)));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

function inputNamesOf(session: Pointer): readonly string[] {
  const { sessionGetInputCount, sessionGetInputName, allocator, allocatorFree, textAt, check } = runtime();
  const count = Number(written((out) => sessionGetInputCount(session, out)));
  return Array.from({ length: count }, (_, index) => {
    const address = written((out) => sessionGetInputName(session, index, allocator, out));
    const name = textAt(address);
    check(allocatorFree(allocator, address));
    return name;
  });
}

function configure(settings: Pointer, options: SessionOptions): void {
  const { threads, constants = new Map<string, Uint8Array>() } = options;
  const api = runtime();
  const set = (key: string, value: string): void => api.check(api.addSessionConfigEntry(settings, key, value));
  // Batches differ in shape, so a memory plan for each of them would only grow.
  api.check(api.disableMemPattern(settings));
  api.check(api.setSessionLogSeverityLevel(settings, logErrors));
  api.check(api.setIntraOpNumThreads(settings, threads));
  api.check(api.setInterOpNumThreads(settings, 1));
  // Threads that spin for all of their waiting halve the speed of a shared machine. Spinning from one operator to the
  // next pays off.
  set('session.intra_op.allow_spinning', '1');
  set('session.intra_op.spin_duration_us', String(spinUs));
  // Codes and scales are computed with as graphs say. Looking for more to fuse takes seconds.
  set('session.disable_quant_qdq', '1');
  if ('folder' in constants) set('session.model_external_initializers_file_folder_path', constants.folder);
  else if (!('names' in constants)) addConstants(settings, constants);
}

function shareConstants(settings: Pointer, { names, values }: NativeTensors): void {
  const { addInitializer, addExternalInitializers, check } = runtime();
  // The first call replaces the model's references to files. The second names what may be shared.
  check(addExternalInitializers(settings, names, values, names.length));
  for (const [index, name] of names.entries()) check(addInitializer(settings, name, values[index] ?? 0n));
}

function addConstants(settings: Pointer, constants: ReadonlyMap<string, Uint8Array>): void {
  const { addExternalInitializersFromFilesInMemory, addressOf, check } = runtime();
  // File names are in the system's own encoding.
  const encoding = process.platform === 'win32' ? 'utf16le' : 'utf8';
  const names = Array.from(constants.keys(), (name) => Buffer.from(`${name}\0`, encoding));
  const addresses = BigUint64Array.from(names, addressOf);
  const contents = BigUint64Array.from(constants.values(), addressOf);
  const lengths = BigUint64Array.from(constants.values(), ({ byteLength }) => BigInt(byteLength));
  check(addExternalInitializersFromFilesInMemory(settings, addresses, contents, lengths, names.length));
}
