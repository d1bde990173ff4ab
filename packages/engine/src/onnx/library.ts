/** Finds ONNX Runtime's library and the function table of its C interface. */
import { createRequire } from 'node:module';
import path from 'node:path';
import koffi, { type TypeObject } from 'koffi';

/** An address in the library's memory. */
export type Pointer = bigint;

export const pointerType = 'void *';

/**
 * The release whose table, types and settings this code knows. Functions are called by their index in the table,
 * without any check by a compiler. In a library with another table a call could do anything.
 */
export const knownVersion = '1.30.0';

/** The requested version of the interface. Later libraries have it, too. */
const apiVersion = 20;
/** The table's indices never change. Those used here are among the first. */
const tableLength = 280;

export interface Library {
  /** Keeps the library loaded. */
  readonly handle: ReturnType<typeof koffi.load>;
  /** The functions of `OrtApi` by index. */
  readonly table: readonly Pointer[];
}

/** Throws for a library of another release, before it calls anything else in it. */
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
  const getApi = koffi.decode(getApiPointer, prototype(pointerType, ['uint32_t'])) as (
    version: number,
  ) => Pointer | null;
  const api = getApi(apiVersion);
  if (api === null) throw new Error(`ONNX Runtime does not offer version ${apiVersion} of its interface`);
  return { handle, table: koffi.decode(api, koffi.array(pointerType, tableLength)) as Pointer[] };
}

export function prototype(result: string, parameters: readonly string[]): TypeObject {
  return koffi.proto(result, [...parameters]);
}

/** The names that the binding uses, so that the process has only one copy of the library. */
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
