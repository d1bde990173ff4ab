/** The LoRA matrices under training as inputs of a graph. */
import type { LoraPair } from '../autodiff/linear.js';
import type { Tape, Value } from '../autodiff/tape.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from './config.js';
import { loraName, moduleTensorSpecs, type LoraModule, type LoraTensorSpec, type Projection } from './weights.js';

/** The name of the output that holds the gradient of the LoRA matrix `name`. */
export function gradientName(name: string): string {
  return `gradient.${name}`;
}

export class LoraParameters {
  private readonly specs: readonly LoraTensorSpec[];
  private readonly values: ReadonlyMap<string, Value>;
  private readonly modules: ReadonlyMap<string, LoraModule>;

  /** Declares the matrices of `modules` as inputs of the graph under their own names. */
  constructor(
    private readonly tape: Tape,
    config: DecoderConfig,
    modules: readonly LoraModule[],
  ) {
    this.specs = moduleTensorSpecs(config, modules);
    this.values = new Map(
      this.specs.map(({ name, shape }) => [name, tape.parameter(tape.graph.input(name, 'float32', shape))]),
    );
    this.modules = new Map(modules.map((module) => [loraName(module.layer, module.projection, 'A'), module]));
  }

  /** The matrices of a projection, if it is adapted. */
  pair(layer: number, projection: Projection): LoraPair | undefined {
    const module = this.modules.get(loraName(layer, projection, 'A'));
    if (module === undefined) return undefined;
    const { rank, scale } = module;
    const [a, b] = [this.value(loraName(layer, projection, 'A')), this.value(loraName(layer, projection, 'B'))];
    return { a, b, rank, scale };
  }

  /** Declares an output for the gradient of each matrix. Call it after the tape's backward pass. */
  outputGradients(): void {
    for (const { name, shape } of this.specs) {
      this.tape.graph.output(gradientName(name), this.tape.gradient(this.value(name)), 'float32', shape);
    }
  }

  private value(name: string): Value {
    const value = this.values.get(name);
    if (value === undefined) throw new EngineError('internal', `there is no LoRA matrix ${name}`);
    return value;
  }
}
