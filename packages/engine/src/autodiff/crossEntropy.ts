/** The loss at the head: cross-entropy against a distribution that is given by its most probable tokens. */
import type { Tape, Value } from './tape.js';

export interface Targets {
  /** int64 `[N, K]`: token ids; distinct within a row where the probability is not 0. */
  readonly ids: string;
  /** float32 `[N, K]`: their probabilities, which sum to 1 in every row. A hard target is one entry of 1. */
  readonly probabilities: string;
  /** float32 `[N]`: the weight of each row in the loss. */
  readonly weights: string;
}

/**
 * `- Σₙ weightₙ Σₖ pₙₖ log softmax(logitsₙ)[idₙₖ]`, a scalar. Its gradient is that of the KL divergence
 * from the targets; the two losses differ by the targets' entropy.
 * @param logits `[N, vocabulary]`
 */
export function crossEntropy(tape: Tape, logits: Value, targets: Targets): Value {
  const { graph } = tape;
  const logProbabilities = graph.node('LogSoftmax', [logits.name], { axis: { int: -1 } });
  const weights = graph.node('Unsqueeze', [targets.weights, graph.integers([1])]);
  const shares = graph.node('Mul', [targets.probabilities, weights]);
  const picked = graph.node('GatherElements', [logProbabilities, targets.ids], { axis: { int: 1 } });
  const sum = graph.node('ReduceSum', [graph.node('Mul', [picked, shares])], { keepdims: { int: 0 } });
  return tape.record(graph.node('Neg', [sum]), [logits], (gradient) => {
    // d logits = weight (softmax - p), scaled by the loss's own gradient.
    tape.accumulate(logits, () => {
      const softmax = graph.node('Exp', [logProbabilities]);
      const weighted = graph.node('Mul', [softmax, graph.node('Mul', [weights, gradient])]);
      const subtracted = graph.node('Neg', [graph.node('Mul', [shares, gradient])]);
      const attributes = { axis: { int: 1 }, reduction: { string: 'add' } };
      return graph.node('ScatterElements', [weighted, targets.ids, subtracted], attributes);
    });
  });
}
