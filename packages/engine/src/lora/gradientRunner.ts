/** Losses and gradients of a run, computed by one graph for the whole step. */
import type { CallOptions } from '../engine.js';
import { throwIfCancelled } from '../support/cancelling.js';
import type { DecoderConfig } from '../model/config.js';
import type { Feeds } from '../model/inputs.js';
import type { MatrixFormat } from '../model/quantization.js';
import { buildTrainingGraph, lowerStates } from '../model/trainingGraph.js';
import type { LoraModule } from '../model/weights.js';
import { Session } from '../onnx/session.js';
import { SessionCache } from '../onnx/sessionCache.js';
import type { SharedConstants } from '../onnx/sharedConstants.js';
import { Tensor } from '../onnx/tensor.js';
import type { TrainingRun } from './runLayout.js';

/** Inputs that all runs share. Each run adds its own feeds. */
export interface TrainingInputs {
  readonly config: DecoderConfig;
  /** See `WeightsInUse`. */
  readonly format: MatrixFormat;
  readonly weights: Feeds;
  /** The LoRA matrices by `loraName`. */
  readonly matrices: Feeds;
  readonly modules: readonly LoraModule[];
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
  /** Copies of the matrices that speed up the graph of a whole step, see `factorConstants`. */
  readonly constants: SharedConstants | undefined;
}

export interface GradientRunner {
  /**
   * @param fetches tensors by `gradientName` to write the gradients to. The whole-step graph computes no gradients if
   *   there are none; layer by layer there must be some.
   * @returns the loss.
   * @throws EngineError `cancelled` before a graph is run.
   */
  run(run: TrainingRun, fetches: Feeds, options: CallOptions): Promise<number>;
  close(): Promise<void>;
}

/** The lowest adapted layer. No step changes anything below it, and nothing there needs a gradient. */
export function lowestLayer(modules: readonly LoraModule[]): number {
  return Math.min(...modules.map(({ layer }) => layer));
}

export class WholeGradientRunner implements GradientRunner {
  private readonly sessions = new SessionCache<string>();

  /** Where runs that come with the states below it begin. */
  private readonly lowest: number;

  constructor(private readonly inputs: TrainingInputs) {
    this.lowest = lowestLayer(inputs.modules);
  }

  async run({ feeds, packed }: TrainingRun, fetches: Feeds, options: CallOptions): Promise<number> {
    const { config, format, modules, weights, matrices, threads, constants } = this.inputs;
    const gradients = Object.keys(fetches).length > 0;
    // Packed and other runs share one graph, because each graph keeps the memory of its largest run.
    const asPacked = packed || gradients;
    const firstLayer = lowerStates in feeds ? this.lowest : 0;
    const session = await this.sessions.get(`${gradients} ${asPacked} ${firstLayer}`, () => {
      const options = { modules, gradients, packed: asPacked, firstLayer, format, constants: constants !== undefined };
      const graph = buildTrainingGraph(config, options);
      const shared = constants === undefined ? {} : { constants: { constants, names: graph.constants } };
      return Session.create(graph.model, { threads, ...shared });
    });
    throwIfCancelled(options);
    const loss = new Float32Array(1);
    await session.run([weights, matrices, feeds], [fetches, { loss: new Tensor(loss, []) }]);
    return loss[0] ?? NaN;
  }

  close(): Promise<void> {
    return this.sessions.close();
  }
}
