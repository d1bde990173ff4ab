/** Finds ONNX Runtime's library, and the table of functions by which its C interface is called. */
import { createRequire } from 'node:module';
import path from 'node:path';
import koffi, { type TypeObject } from 'koffi';

/** Where something of the library's is. */
export type Pointer = bigint;

export const pointerType = 'void *';

/**
 * The release whose table, types and settings are known here. Functions are called by their place in the table, past
 * every check of a compiler's: in a library that has others there, a call would do anything.
 */
export const knownVersion = '1.30.0';

/** The version of the interface that is asked for, which later libraries have, too. */
const apiVersion = 20;
/** The places of its table are never changed; those used here are among the first. */
const tableLength = 280;

export interface Library {
  /** Keeps the library loaded. */
  readonly handle: ReturnType<typeof koffi.load>;
  /** The functions of `OrtApi`, by their place in it. */
  readonly table: readonly Pointer[];
}

/** Throws for a library of another release than the known one, before anything else of it is called. */
export function openLibrary(file: string): Library {
  const handle = koffi.load(file);
  // `OrtApiBase`, which all releases have: GetApi and GetVersionString.
  const getApiBase = handle.func('OrtGetApiBase', pointerType, []) as () => Pointer;
  const [getApiPointer, getVersionPointer] = koffi.decode(getApiBase(), koffi.array(pointerType, 2)) as Pointer[];
  const getVersion = koffi.decode(getVersionPointer, prototype('str', [])) as () => string;
  const version = getVersion();
  if (version !== knownVersion) {
    throw new Error(
      `ONNX Runtime ${version} was found (${file}), and this release works with ${knownVersion} alone: ` +
        'install the dependencies anew, as the lockfile names them (npm ci)',
    );
  }
  const getApi = koffi.decode(getApiPointer, prototype(pointerType, ['uint32_t'])) as (version: number) => Pointer | null;
  const api = getApi(apiVersion);
  if (api === null) throw new Error(`ONNX Runtime does not offer version ${apiVersion} of its interface`);
  return { handle, table: koffi.decode(api, koffi.array(pointerType, tableLength)) as Pointer[] };
}

export function prototype(result: string, parameters: readonly string[]): TypeObject {
  return koffi.proto(result, [...parameters]);
}

/** As the binding has them, so that there is one copy of the library in the process. */
const libraryNames: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'libonnxruntime.so.1',
  darwin: 'libonnxruntime.1.dylib',
  win32: 'onnxruntime.dll',
};

export function libraryPath(): string {
  const name = libraryNames[process.platform];
  if (name === undefined) throw new Error(`there is no ONNX Runtime for ${process.platform}`);
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  return path.join(path.dirname(manifest), 'bin', 'napi-v6', process.platform, process.arch, name);
}
