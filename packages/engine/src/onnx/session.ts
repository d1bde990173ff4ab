/** Creating ONNX Runtime sessions with the settings that all graphs share. */
import { InferenceSession } from 'onnxruntime-node';

export interface SessionOptions {
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
  /** The bytes of the graph's external constants. ONNX Runtime keeps copies, arranged for its kernels. */
  readonly constants?: ReadonlyMap<string, Uint8Array>;
}

/** Loading and running block the calling thread. */
export function createSession(model: Uint8Array, options: SessionOptions): Promise<InferenceSession> {
  return InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Batches differ in shape; a memory plan for each of them would only grow.
    enableMemPattern: false,
    // Spinning threads gain nothing on a free machine and halve the speed on a shared one.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
    externalData: Array.from(options.constants ?? [], ([path, data]) => ({ path, data })),
    logSeverityLevel: 3,
  });
}
