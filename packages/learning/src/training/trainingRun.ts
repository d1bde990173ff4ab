import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrainingExample, TrainingSession } from '@engraft/engine';
import { throwIfCancelled } from '../budget/calls.js';
import { noUsage, subtractUsage, type Meter } from '../budget/meter.js';
import { withLoss } from '../lossCurve.js';
import type { TrainingOutcome } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import type { LearningUsage } from '../types.js';
import { learningRateAt } from './learningRate.js';
import { batches, tokensOf } from './batches.js';
import type { Material } from './material.js';
import type { TrainingState } from './progress.js';
import type { Snapshots } from './snapshots.js';

/** The longest that a stopping worker waits for the last snapshot. */
const maxLastSnapshotMs = 3_000;

export type Trained = TrainingOutcome;

export interface TrainingRunInput {
  readonly recipe: Recipe;
  readonly meter: Meter;
  /** The meter's usage when the phase began. */
  readonly usageBefore: LearningUsage;
  readonly material: Material;
  readonly steps: number;
  readonly seed: number;
  readonly session: TrainingSession;
  /** Where the session stands. */
  readonly state: TrainingState;
  readonly snapshots: Snapshots;
  readonly signal: AbortSignal | undefined;
  readonly onStep: (done: number, total: number) => void;
}

/** The steps of a training from where its session stands, with dev evaluations between them. */
export class TrainingRun {
  #state: TrainingState;
  readonly #batches: Generator<TrainingExample[], never>;
  readonly #intervalSteps: number;
  readonly #options: { readonly signal?: AbortSignal };

  constructor(readonly input: TrainingRunInput) {
    const { material, recipe, seed, state, steps, signal } = input;
    this.#state = state;
    this.#intervalSteps = Math.max(1, Math.ceil(steps / recipe.training.devEvaluations));
    this.#options = signal === undefined ? {} : { signal };
    this.#batches = batches(material, seed, recipe);
    for (let done = 0; done < state.report.steps; done++) this.#batches.next();
  }

  async toEnd(): Promise<Trained> {
    const { session, signal, snapshots, steps } = this.input;
    for (;;) {
      throwIfCancelled(signal);
      if (snapshots.isDue) await this.#keep();
      if (this.#state.interval.steps === this.#intervalSteps) {
        await this.#endInterval();
        if (this.#isEnough()) break;
      }
      if (this.#state.report.steps >= steps || !(await this.#step())) break;
    }
    const { best, curve, report } = this.#state;
    const adapter = best?.adapter ?? (await session.save(path.join(snapshots.folder, `step-${report.steps}`)));
    return { adapter, report, curve };
  }

  /**
   * Keeps a training that was interrupted between two steps or during one. A step that was cut off has changed nothing.
   */
  async keepLast(): Promise<void> {
    const late = sleep(maxLastSnapshotMs, undefined, { ref: false }).then(() => {
      throw new Error(`it took longer than ${maxLastSnapshotMs} ms`);
    });
    try {
      await Promise.race([this.#keep(), late]);
    } catch (error) {
      this.input.snapshots.failed(error);
    }
  }

  #keep(): Promise<void> {
    const { meter, session, snapshots, usageBefore } = this.input;
    return snapshots.keep(session, this.#state, subtractUsage(meter.usage, usageBefore));
  }

  /** Returns `false` if there is no money for it. */
  async #step(): Promise<boolean> {
    const { meter, onStep, recipe, session, steps } = this.input;
    const batch = this.#batches.next().value;
    const held: LearningUsage = { ...noUsage, training_tokens: tokensOf(batch) };
    if (!meter.tryHold(held, recipe.shares.training)) return false;
    const { curve, report, interval } = this.#state;
    const rate = learningRateAt(report.steps, steps, recipe.training);
    const { loss, tokens } = await session.step(batch, rate, this.#options);
    meter.settle(held, { ...noUsage, training_tokens: tokens });
    const lossSum = interval.lossSum + loss;
    const shown = interval.steps + 1;
    this.#state = {
      ...this.#state,
      report: { steps: report.steps + 1, tokens: report.tokens + tokens, final_loss: lossSum / shown },
      interval: { steps: shown, lossSum },
      curve: withLoss(curve, loss),
    };
    onStep(report.steps + 1, steps);
    return true;
  }

  async #endInterval(): Promise<void> {
    const { session, snapshots } = this.input;
    const { best, report, stale } = this.#state;
    const ended = { ...this.#state, interval: { steps: 0, lossSum: 0 } };
    const devLoss = await this.#evaluateDev();
    if (devLoss !== null && (best === null || devLoss < best.devLoss)) {
      const adapter = await session.save(path.join(snapshots.folder, `step-${report.steps}`));
      this.#state = { ...ended, stale: 0, best: { devLoss, adapter } };
      if (best !== null) await snapshots.dropAdapter(best.adapter.folder);
    } else {
      this.#state = { ...ended, stale: stale + 1 };
    }
  }

  /** Returns `null` if there is nothing to evaluate, or no money for it. */
  async #evaluateDev(): Promise<number | null> {
    const { material, meter, recipe, session } = this.input;
    const held: LearningUsage = { ...noUsage, input_tokens: tokensOf(material.dev) };
    if (material.dev.length === 0 || !meter.tryHold(held, recipe.shares.training)) return null;
    const result = await session.evaluate(material.dev, this.#options);
    meter.settle(held, { ...noUsage, input_tokens: result.tokens });
    return result.loss;
  }

  #isEnough(): boolean {
    const { best, report, stale } = this.#state;
    const { devPatience, enoughLoss } = this.input.recipe.training;
    if (best === null) return false;
    const isPatient = stale < devPatience || 2 * report.steps < this.input.steps;
    return !isPatient || report.final_loss < enoughLoss;
  }
}
