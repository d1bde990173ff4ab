import type { CallOptions } from '../engine.js';
import { gradientName } from '../model/loraParameters.js';
import type { TrainingRun } from './runLayout.js';
import type { GradientRunner } from './gradientRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';

/** The sum of the losses and gradients of several runs. */
export class GradientAccumulator {
  loss = 0;
  /** The number of runs in the sum. */
  runs = 0;
  withGradients = false;
  /** The gradients of each run after the first. */
  private latest: FlatMatrices | undefined;

  constructor(readonly gradients: FlatMatrices) {}

  begin(withGradients: boolean): void {
    this.loss = 0;
    this.runs = 0;
    this.withGradients = withGradients;
  }

  /** Computes a run and adds it. The first run writes directly into the sum. */
  async compute(runner: GradientRunner, run: TrainingRun, options: CallOptions): Promise<void> {
    if (!this.withGradients) {
      this.add(await runner.run(run, {}, options), this.gradients.values);
      return;
    }
    const given = this.runs === 0 ? this.gradients : (this.latest ??= new FlatMatrices(this.gradients.specs));
    this.add(await runner.run(run, tensorsOver(given, gradientName), options), given.values);
  }

  /** @param gradients ignored if no gradients are asked for. */
  add(loss: number, gradients: Float32Array): void {
    const { values } = this.gradients;
    if (this.withGradients && this.runs > 0) addTo(values, gradients);
    else if (this.withGradients && gradients !== values) values.set(gradients);
    this.loss += loss;
    this.runs += 1;
  }
}

function addTo(sum: Float32Array, values: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
}
