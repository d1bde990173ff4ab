import type { CallOptions } from '../engine.js';
import { gradientName } from '../model/loraParameters.js';
import type { TrainingRun } from './runLayout.js';
import type { GradientRunner } from './gradientRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';

/** What runs add up to, one after the other. */
export class GradientAccumulator {
  loss = 0;
  /** Runs that are in the sum. */
  runs = 0;
  withGradients = false;
  /** What the runs after the first give. */
  private latest: FlatMatrices | undefined;

  constructor(readonly gradients: FlatMatrices) {}

  begin(withGradients: boolean): void {
    this.loss = 0;
    this.runs = 0;
    this.withGradients = withGradients;
  }

  /** Computes a run and adds it; the first writes where the sum belongs. */
  async compute(runner: GradientRunner, run: TrainingRun, options: CallOptions): Promise<void> {
    if (!this.withGradients) {
      this.add(await runner.run(run, {}, options), this.gradients.values);
      return;
    }
    const given = this.runs === 0 ? this.gradients : (this.latest ??= new FlatMatrices(this.gradients.specs));
    this.add(await runner.run(run, tensorsOver(given, gradientName), options), given.values);
  }

  /** @param gradients not looked at where they are not asked for. */
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
