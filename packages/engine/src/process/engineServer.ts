import type { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError, type CallOptions, type TrainingSession } from '../engine.js';
import { toWireError, type CallMessage, type ChildMessage } from './protocol.js';

/** Answers a host's calls with an engine in this process. */
export class EngineServer {
  private readonly underWay = new Map<number, AbortController>();
  private readonly trainings = new Map<number, TrainingSession>();
  private nextTraining = 1;

  constructor(
    private readonly engine: EmbeddedEngine,
    private readonly send: (message: ChildMessage) => void,
    /** Gets the engine's internal errors before they are reduced to a message. */
    private readonly onInternalError: (error: unknown) => void,
  ) {}

  /** Starts a call. Its answer is sent when it is ready. */
  accept(call: CallMessage): void {
    const controller = new AbortController();
    this.underWay.set(call.id, controller);
    this.perform(call, { signal: controller.signal }).then(
      (value) => this.answer(call.id, { kind: 'result', id: call.id, value }),
      (error: unknown) => {
        const wire = toWireError(error);
        if (wire.code === 'internal') this.onInternalError(error);
        this.answer(call.id, { kind: 'error', id: call.id, error: wire });
      },
    );
  }

  cancel(id: number): void {
    this.underWay.get(id)?.abort();
  }

  private answer(id: number, message: ChildMessage): void {
    this.underWay.delete(id);
    this.send(message);
  }

  private async perform(call: CallMessage, options: CallOptions): Promise<unknown> {
    switch (call.method) {
      case 'describe':
        return this.engine.describe();
      case 'countTokens':
        return this.engine.countTokens(...call.args);
      case 'encode':
        return this.engine.encode(...call.args);
      case 'generate':
        return this.engine.generate(...call.args, options);
      case 'score':
        return this.engine.score(...call.args, options);
      case 'openTraining':
        return this.openTraining(await this.engine.openTraining(...call.args));
      case 'forgetPrefixes':
        return this.engine.forgetPrefixes(...call.args);
      case 'forgetUnusedWeights':
        return this.engine.forgetUnusedWeights();
      case 'trainingStep': {
        const [id, batch, learningRate] = call.args;
        return this.training(id).step(batch, learningRate, options);
      }
      case 'trainingEvaluate': {
        const [id, batch] = call.args;
        return this.training(id).evaluate(batch, options);
      }
      case 'trainingSave': {
        const [id, folder, precision] = call.args;
        return this.training(id).save(folder, precision);
      }
      case 'trainingSnapshot': {
        const [id, folder] = call.args;
        return this.training(id).snapshot(folder);
      }
    }
  }

  private openTraining(session: TrainingSession): number {
    const id = this.nextTraining;
    this.nextTraining += 1;
    this.trainings.set(id, session);
    return id;
  }

  private training(id: number): TrainingSession {
    const session = this.trainings.get(id);
    if (session === undefined) throw new EngineError('invalid_request', 'there is no such training session');
    return session;
  }
}
