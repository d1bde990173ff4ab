import type { CallOptions } from '../engine.js';
import { buildLowerGraph } from '../model/lowerGraph.js';
import { lowerStates } from '../model/trainingGraph.js';
import { Session } from '../onnx/session.js';
import { SessionCache } from '../onnx/sessionCache.js';
import { Tensor } from '../onnx/tensor.js';
import { throwIfCancelled } from '../support/cancelling.js';
import type { TrainingInputs } from './gradientRunner.js';
import type { LaidOutRun, TrainingRun } from './runLayout.js';

/** Bytes of the states that are kept. A passage of 1,000 characters needs some 40 MB with SmolLM2-135M. */
const defaultMaxBytes = 256 * 2 ** 20;

/**
 * The layers below the lowest adapted one. What they give for a sequence never changes, so it is computed once and kept
 * for the steps that show the sequence again. Each sequence is computed alone. So its states depend on nothing else,
 * and a training that goes on later computes the same.
 */
export class LowerLayers {
  private readonly sessions = new SessionCache<string>();
  private readonly kept = new Map<string, Float32Array>();
  private keptBytes = 0;

  /** @param layers at least 1, and fewer than the model has. */
  constructor(
    private readonly inputs: Omit<TrainingInputs, 'matrices' | 'modules'>,
    private readonly layers: number,
    private readonly maxBytes = defaultMaxBytes,
  ) {}

  /**
   * The run with the states that its layers begin with. Padding has zeros.
   * @throws EngineError `cancelled` between sequences.
   */
  async begin({ sequences, ...run }: LaidOutRun, options: CallOptions): Promise<TrainingRun> {
    const width = this.inputs.config.hiddenSize;
    const states = new Float32Array(run.rows * run.length * width);
    for (const { tokens, trunkStart, shared, start } of sequences) {
      const own = await this.statesOf(tokens, options);
      states.set(own.subarray(0, shared * width), trunkStart * width);
      states.set(own.subarray(shared * width), start * width);
    }
    const tensor = new Tensor(states, [run.rows * run.length, width]);
    return { ...run, feeds: { ...run.feeds, [lowerStates]: tensor } };
  }

  close(): Promise<void> {
    this.kept.clear();
    return this.sessions.close();
  }

  /** `[tokens, hiddenSize]` */
  private async statesOf(tokens: readonly number[], options: CallOptions): Promise<Float32Array> {
    const key = tokens.join();
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    throwIfCancelled(options);
    const states = await this.compute(tokens);
    // Rows come in turn. If not all of them fit, those that came first stay, since each new one would push out one
    // that comes again sooner.
    if (this.keptBytes + states.byteLength <= this.maxBytes) {
      this.kept.set(key, states);
      this.keptBytes += states.byteLength;
    }
    return states;
  }

  private async compute(tokens: readonly number[]): Promise<Float32Array> {
    const { config, constants, format, threads, weights } = this.inputs;
    const session = await this.sessions.get('lower', () => {
      const graph = buildLowerGraph(config, this.layers, { format, constants: constants !== undefined });
      const shared = constants === undefined ? {} : { constants: { constants, names: graph.constants } };
      return Session.create(graph.model, { threads, ...shared });
    });
    const states = new Float32Array(tokens.length * config.hiddenSize);
    const ids = new Tensor(BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
    const fetched = { [lowerStates]: new Tensor(states, [tokens.length, config.hiddenSize]) };
    await session.run([weights, { ids }], [fetched]);
    return states;
  }
}
