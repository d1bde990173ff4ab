/**
 * Reverse-mode differentiation that emits ONNX nodes: each operation of `operations.ts` adds its forward
 * nodes at once and leaves on the tape a rule that adds its backward nodes later. The tape is used up by
 * `backward`; the finished graph computes values and gradients in one run.
 */
import { EngineError } from '../engine.js';
import type { Attributes, GraphBuilder } from '../onnx/graphBuilder.js';

export interface Value {
  readonly name: string;
  /** Whether a parameter influences this value; nothing is computed for the gradients of others. */
  readonly requiresGradient: boolean;
}

/** Adds nodes that turn the gradient of a result into contributions to the gradients of its operands. */
export type BackwardRule = (gradient: string) => void;

/** The same for an operation with several results; a result that does not influence the loss has no gradient. */
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

  /** The result `name` of an operation on `operands`. */
  record(name: string, operands: readonly Value[], rule: BackwardRule): Value {
    const [result = this.constant(name)] = this.recordAll([name], operands, ([gradient]) => {
      if (gradient !== undefined) rule(gradient);
    });
    return result;
  }

  /** The results `names` of one operation on `operands`, whose gradients are known together when its rule is called. */
  recordAll(names: readonly string[], operands: readonly Value[], rule: JointBackwardRule): readonly Value[] {
    const requiresGradient = operands.some((operand) => operand.requiresGradient);
    const results = names.map((name) => ({ name, requiresGradient }));
    if (requiresGradient) this.rules.push({ results, rule });
    return results;
  }

  /** Adds `contribution` to the gradient of `value`; it is not called when that gradient is not needed. */
  accumulate(value: Value, contribution: () => string): void {
    if (!value.requiresGradient) return;
    const sum = this.gradients.get(value);
    const term = contribution();
    this.gradients.set(value, sum === undefined ? term : this.graph.node('Add', [sum, term]));
  }

  /** Like `accumulate`, for a contribution `alpha a b`, where the matrix product itself does the adding. */
  accumulateProduct(value: Value, a: string, b: string, attributes: Attributes = {}): void {
    this.accumulateOnto(value, (sum) => this.graph.node('Gemm', sum === undefined ? [a, b] : [a, b, sum], attributes));
  }

  /** Like `accumulate`, for a contribution whose computation adds it to the sum so far, if there is one. */
  accumulateOnto(value: Value, contribution: (sum: string | undefined) => string): void {
    if (value.requiresGradient) this.gradients.set(value, contribution(this.gradients.get(value)));
  }

  /**
   * Adds the backward nodes of everything recorded.
   * @param result the scalar loss or, with the loss's gradient with respect to it, a value that leads to the loss.
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
    if (gradient === undefined) throw new EngineError('internal', `${value.name} does not influence the loss.`);
    return gradient;
  }
}
