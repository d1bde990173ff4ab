/** Creating ONNX Runtime sessions with the settings that all graphs share. */
import { InferenceSession } from 'onnxruntime-node';

/**
 * Set before ONNX Runtime begins, which is with the first session: its packages for Linux and macOS report sessions, models and errors to
 * Microsoft otherwise (https://github.com/microsoft/onnxruntime/pull/27379).
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';

/**
 * Attention without ONNX Runtime's blocks, in which a row's numbers depend on who else is in its batch where threads are more than heads.
 * They were also slower: a step of eight rows with 1,500 tokens each took 1.5 to 1.9 times as long with the shipped model (8 bits, one thread).
 */
process.env['ORT_GQA_DISABLE_FLASH_ATTENTION'] = '1';

export interface SessionOptions {
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
  /**
   * The graph's external constants: their bytes, or a folder that has a file of each constant's name. ONNX Runtime keeps copies, arranged
   * for its kernels; of files it reads one after the other, and never has all of their bytes beside the copies.
   */
  readonly constants?: ReadonlyMap<string, Uint8Array> | { readonly folder: string };
}

/** Loading and running block the calling thread. */
export function createSession(model: Uint8Array, options: SessionOptions): Promise<InferenceSession> {
  const { constants = new Map<string, Uint8Array>() } = options;
  const inFiles = 'folder' in constants;
  return InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Batches differ in shape; a memory plan for each of them would only grow.
    enableMemPattern: false,
    // Spinning threads gain nothing on a free machine and halve the speed on a shared one.
    extra: {
      session: {
        intra_op: { allow_spinning: '0' },
        ...(inFiles ? { model_external_initializers_file_folder_path: constants.folder } : {}),
      },
    },
    externalData: inFiles ? [] : Array.from(constants, ([path, data]) => ({ path, data })),
    logSeverityLevel: 3,
  });
}
