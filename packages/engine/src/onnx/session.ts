/** Sessions of ONNX Runtime: graphs that are ready to run, with the settings that all of them share. */
import { setImmediate } from 'node:timers/promises';
import { markProgress } from '../progress.js';
import { KeptTensors, NativeTensors } from './nativeTensors.js';
import { LOG_ERRORS, runtime, written, type Pointer } from './runtime.js';
import type { SharedConstants } from './sharedConstants.js';
import type { Tensors } from './tensor.js';

export interface SessionOptions {
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
  /**
   * The graph's external constants: their numbers, or a folder that has a file of each constant's name. ONNX Runtime
   * keeps copies, arranged for its kernels; of files it reads one after the other, and never has all of their bytes
   * beside the copies. Of those that are shared all sessions have one copy, but for the moment in which they are made.
   */
  readonly constants?: ReadonlyMap<string, Uint8Array> | { readonly folder: string } | ChosenConstants;
}

/** The constants of one graph, out of all that are shared. */
export interface ChosenConstants {
  readonly constants: SharedConstants;
  readonly names: readonly string[];
}

/** Options of the sessions being made. Perhaps nothing else keeps their constants from being collected. */
const held = new Set<SessionOptions>();

/** How long a thread waits for the next operator before it sleeps, and must be woken. */
const SPIN_US = 10;

/** Tensors under the names that a graph has for them; those that many runs are given are best kept. */
export type NamedTensors = Tensors | KeptTensors;

/** A graph that is ready to run. */
export class Session {
  readonly inputNames: readonly string[];
  private readonly inputs: ReadonlySet<string>;
  /** ONNX Runtime's own session, until it is released. */
  private handle: Pointer | undefined;

  private constructor(
    handle: Pointer,
    inputNames: readonly string[],
    /** The memory of those that no kernel wanted arranged is read for as long as there is a session. */
    readonly shared: SharedConstants | undefined,
  ) {
    this.handle = handle;
    this.inputNames = inputNames;
    this.inputs = new Set(inputNames);
    forgotten.register(this, handle, this);
  }

  /** Loading and running block the calling thread. */
  static async create(model: Uint8Array, options: SessionOptions): Promise<Session> {
    await setImmediate();
    const { createSessionOptions, releaseSession, releaseSessionOptions } = runtime();
    const settings = written(createSessionOptions);
    // The settings have only their addresses.
    held.add(options);
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
      held.delete(options);
      releaseSessionOptions(settings);
      markProgress();
    }
  }

  /**
   * Computes the results that are asked for, and writes them into the tensors that are given for them, which may be
   * memory of an input where the operator that computes it allows that.
   * @param feeds each of the graph's inputs once; what it has no input for is not looked at, unless it is kept.
   * @throws Error what ONNX Runtime says, such as that an input is missing, or that a result is of another shape.
   */
  async run(feeds: readonly NamedTensors[], results: readonly NamedTensors[]): Promise<void> {
    // Others have their turn between runs.
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
      // It is until here that they hold the memory of tensors that nobody else holds.
      for (const natives of [...inputs, ...outputs]) if (!natives.kept) natives.release();
      markProgress();
    }
  }

  /** Frees its memory; nothing may be running in it. */
  release(): void {
    if (this.handle === undefined) return;
    forgotten.unregister(this);
    runtime().releaseSession(this.handle);
    this.handle = undefined;
  }

  private fed(tensors: NamedTensors): NativeTensors {
    if (tensors instanceof KeptTensors) return tensors.natives;
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

/** Releases sessions that nobody released. */
const forgotten = new FinalizationRegistry((handle: Pointer) => runtime().releaseSession(handle));

function nativesOf(tensors: NamedTensors): NativeTensors {
  return tensors instanceof KeptTensors ? tensors.natives : new NativeTensors(Object.entries(tensors), false);
}

function namesOf({ names }: NativeTensors): BigUint64Array {
  return names;
}

function valuesOf({ values }: NativeTensors): BigUint64Array {
  return values;
}

function joined(parts: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0));
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
  // Batches differ in shape; a memory plan for each of them would only grow.
  api.check(api.disableMemPattern(settings));
  api.check(api.setSessionLogSeverityLevel(settings, LOG_ERRORS));
  api.check(api.setIntraOpNumThreads(settings, threads));
  api.check(api.setInterOpNumThreads(settings, 1));
  // Threads that spin as long as they wait halve the speed of a shared machine; from one operator to the next it is
  // worth it.
  set('session.intra_op.allow_spinning', '1');
  set('session.intra_op.spin_duration_us', String(SPIN_US));
  if ('folder' in constants) set('session.model_external_initializers_file_folder_path', constants.folder);
  else if (!('names' in constants)) addConstants(settings, constants);
}

function shareConstants(settings: Pointer, { names, values }: NativeTensors): void {
  const { addInitializer, addExternalInitializers, check } = runtime();
  // The first call replaces what the model says of files; the second names what may be shared.
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
