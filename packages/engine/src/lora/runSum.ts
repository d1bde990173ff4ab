import type { CallOptions } from '../engine.js';
import { gradientName } from '../model/loraParameters.js';
import type { TrainingRun } from './batch.js';
import type { GradientRunner } from './gradientRunner.js';
import { FlatMatrices, tensorsOver } from './parameters.js';

/** What runs add up to, one after the other. */
export class RunSum {
  loss = 0;
  private isEmpty = true;
  private computesGradients = false;
  /** What the runs after the first give. */
  private addend: FlatMatrices | undefined;

  constructor(readonly gradients: FlatMatrices) {}

  get withGradients(): boolean {
    return this.computesGradients;
  }

  begin(withGradients: boolean): void {
    this.loss = 0;
    this.isEmpty = true;
    this.computesGradients = withGradients;
  }

  /** Computes a run and adds it; the first writes where the sum belongs. */
  async compute(runner: GradientRunner, run: TrainingRun, options: CallOptions): Promise<void> {
    const given = this.isEmpty ? this.gradients : (this.addend ??= new FlatMatrices(this.gradients.specs));
    const loss = await runner.run(run, this.withGradients ? tensorsOver(given, gradientName) : {}, options);
    this.add(loss, given.values);
  }

  /** @param gradients not looked at where they are not asked for. */
  add(loss: number, gradients: Float32Array | null): void {
    this.loss += loss;
    if (this.withGradients && gradients !== null) {
      const { values } = this.gradients;
      if (!this.isEmpty) addTo(values, gradients);
      else if (gradients !== values) values.set(gradients);
    }
    this.isEmpty = false;
  }
}

function addTo(sum: Float32Array, values: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0);
}
