import type { TrainingExample } from '@engraft/engine';

/**
 * Lets the beginning of an answer count as much again as the whole of it. The first tokens of a reply decide which
 * sentence of the passage it becomes, and the others follow from them. In the mean over a long sentence those few would
 * hardly count. An answer of no more tokens stays as it is.
 */
export function withOpening(example: TrainingExample, openingTokens: number): TrainingExample {
  const { tokens, targetStart } = example.sequence;
  const count = tokens.length - targetStart;
  if (openingTokens === 0 || count <= openingTokens) return example;
  const targetWeights = Array.from(
    { length: count },
    (_, index) => 1 / count + (index < openingTokens ? 1 / openingTokens : 0),
  );
  return { ...example, weight: 2 * example.weight, targetWeights };
}
