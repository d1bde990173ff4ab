/**
 * Reverse-mode differentiation that emits ONNX nodes. Each operation of `operations.ts` adds its forward nodes at once
 * and records a rule that adds its backward nodes later. `backward` uses the tape up. The finished graph computes
 * values and gradients in one run.
 */
import { EngineError } from '../engine.js';
import type { Attributes, GraphBuilder } from '../onnx/graphBuilder.js';

export interface Value {
  readonly name: string;
  /** Whether a parameter influences this value. No gradient is computed for other values. */
  readonly requiresGradient: boolean;
}

/** Adds nodes that turn the gradient of a result into contributions to the gradients of its operands. */
export type BackwardRule = (gradient: string) => void;

/** The same for an operation with several results. A result that does not influence the loss has no gradient. */
export type JointBackwardRule = (gradients: readonly (string | undefined)[]) => void;

export class Tape {
  private readonly rules: { readonly results: readonly Value[]; readonly rule: JointBackwardRule }[] = [];
  private readonly gradients = new Map<Value, string>();

  constructor(readonly graph: GraphBuilder) {}

  constant(name: string): Value {
    return { name, requiresGradient: false };
  }

  parameter(name: string): Value {
    return { name, requiresGradient: true };
  }

  /** Records the result `name` of an operation on `operands`. */
  record(name: string, operands: readonly Value[], rule: BackwardRule): Value {
    const [result = this.constant(name)] = this.recordAll([name], operands, ([gradient]) => {
      if (gradient !== undefined) rule(gradient);
    });
    return result;
  }

  /** Records the results `names` of one operation on `operands`. The rule gets all their gradients together. */
  recordAll(names: readonly string[], operands: readonly Value[], rule: JointBackwardRule): readonly Value[] {
    const requiresGradient = operands.some((operand) => operand.requiresGradient);
    const results = names.map((name) => ({ name, requiresGradient }));
    if (requiresGradient) this.rules.push({ results, rule });
    return results;
  }

  /** Adds `contribution` to the gradient of `value`. Not called when that gradient is not needed. */
  accumulate(value: Value, contribution: () => string): void {
    if (!value.requiresGradient) return;
    const sum = this.gradients.get(value);
    const term = contribution();
    this.gradients.set(value, sum === undefined ? term : this.graph.node('Add', [sum, term]));
  }

  /** Like `accumulate`, for a contribution `alpha a b` that the matrix product itself adds. */
  accumulateProduct(value: Value, a: string, b: string, attributes: Attributes = {}): void {
    this.accumulateOnto(value, (sum) => this.graph.node('Gemm', sum === undefined ? [a, b] : [a, b, sum], attributes));
  }

  /** Like `accumulate`, for a contribution that adds itself to the sum so far, if there is one. */
  accumulateOnto(value: Value, contribution: (sum: string | undefined) => string): void {
    if (value.requiresGradient) this.gradients.set(value, contribution(this.gradients.get(value)));
  }

  /**
   * Adds the backward nodes of everything recorded.
   * @param result the scalar loss, or a value that leads to the loss, together with the loss's gradient for it.
   */
  backward(result: Value, gradient?: string): void {
    this.accumulate(result, () => gradient ?? this.graph.float(1));
    for (const { results, rule } of this.rules.reverse()) {
      const known = results.map((value) => this.gradients.get(value));
      if (known.some((name) => name !== undefined)) rule(known);
    }
    this.rules.length = 0;
  }

  /** The gradient of `value`, after `backward`. */
  gradient(value: Value): string {
    const gradient = this.gradients.get(value);
    if (gradient === undefined) throw new EngineError('internal', `${value.name} does not influence the loss`);
    return gradient;
  }
}
