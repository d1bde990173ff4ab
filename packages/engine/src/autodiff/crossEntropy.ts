/** The output head and its loss: cross-entropy against the most probable tokens of a given distribution. */
import type { FrozenMatrix } from './linear.js';
import type { Tape, Value } from './tape.js';

export interface Targets {
  /** int64 `[N, K]`: token ids. Ids with a probability above 0 are distinct within a row. */
  readonly ids: string;
  /** float32 `[N, K]`: their probabilities, which sum to 1 in each row. A hard target has one entry of 1. */
  readonly probabilities: string;
  /** float32 `[N]`: the weight of each row in the loss. */
  readonly weights: string;
}

/**
 * The scalar `- Σₙ weightₙ Σₖ pₙₖ log softmax(logitsₙ)[idₙₖ]` with `logits = hidden Wᵀ`. Its gradient is that of the KL
 * divergence from the targets. The two losses differ by the targets' entropy.
 * @param hidden `[N, hiddenSize]`
 * @param head `[vocabulary, hiddenSize]`
 */
export function crossEntropy(tape: Tape, hidden: Value, head: FrozenMatrix, targets: Targets): Value {
  const { graph } = tape;
  const logits = head.product(hidden.name);
  const logProbabilities = graph.node('LogSoftmax', [logits], { axis: { int: -1 } });
  const weights = graph.node('Unsqueeze', [targets.weights, graph.integers([1])]);
  const shares = graph.node('Mul', [targets.probabilities, weights]);
  const picked = graph.node('GatherElements', [logProbabilities, targets.ids], { axis: { int: 1 } });
  const sum = graph.node('ReduceSum', [graph.node('Mul', [picked, shares])], { keepdims: { int: 0 } });
  return tape.record(graph.node('Neg', [sum]), [hidden], (gradient) => {
    // d hidden = weight ((softmax - p) W), scaled by the loss's own gradient. Rows are weighted at the narrow end.
    tape.accumulate(hidden, () => {
      const softmax = graph.node('Exp', [logProbabilities]);
      const attributes = { axis: { int: 1 }, reduction: { string: 'add' } };
      const subtracted = graph.node('Neg', [targets.probabilities]);
      const difference = graph.node('ScatterElements', [softmax, targets.ids, subtracted], attributes);
      return graph.node('Mul', [head.backProduct(difference), graph.node('Mul', [weights, gradient])]);
    });
  });
}
