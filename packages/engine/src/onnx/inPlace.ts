/**
 * Runs that write their results into memory of the caller's and hand nothing back.
 *
 * The binding (onnxruntime-node 1.30) copies every result of a run into an array of its own, even one that was written where the caller wanted
 * it; where the result is the whole cache of keys and values, that takes longer than computing the next token. It hands results back in the order
 * in which the graph declares them, after all are computed, and ends with an error at the first that is no tensor. So a graph that
 * computes in place declares such a one before all others, and the error is what is expected of its runs. With a binding
 * that does not copy, or that hands back what is no tensor, they are as right without the error.
 */
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { GraphBuilder } from './graphBuilder.js';

/** The result that cannot be handed back. */
const NOTHING = 'nothing';

/** To be called before the graph declares its first output; only `runInPlace` can run it then. */
export function computeInPlace(graph: GraphBuilder): void {
  graph.nodeInto('SequenceEmpty', [], {}, [NOTHING]);
  graph.declareSequenceOutput(NOTHING);
}

/**
 * @param results where each of the graph's outputs that is wanted is written; it may be memory of an input where the operator that
 * computes it allows that
 */
export async function runInPlace(
  session: InferenceSession,
  feeds: Readonly<Record<string, Tensor>>,
  results: Readonly<Record<string, Tensor>>,
): Promise<void> {
  try {
    await session.run(feeds, { [NOTHING]: null, ...results });
  } catch (error) {
    const isExpected = error instanceof Error && error.message.startsWith('Non tensor type');
    if (!isExpected) throw error;
  }
}
