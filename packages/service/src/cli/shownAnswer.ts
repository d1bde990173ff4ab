/** An answer as it is printed for a person. `--json` has it as it came. */
import type { InferenceResult } from '@engraft/contract';
import { beforeRunaway } from './runaway.js';

export interface ShownAnswer {
  readonly text: string;
  /** A note about the answer, shown apart from it. */
  readonly remark: string | null;
}

export function shownAnswer(
  { text, finish_reason }: Pick<InferenceResult, 'text' | 'finish_reason'>,
  outputTokens: number,
): ShownAnswer {
  if (finish_reason !== 'length') return { text, remark: null };
  const before = beforeRunaway(text);
  if (before !== null) {
    return {
      text: `${before.trimEnd()} …`,
      remark: 'the answer only repeats itself from here on; --json shows all of it',
    };
  }
  // The bound is --max-output-tokens, or the context of the model.
  return { text, remark: `the answer was cut when it had ${outputTokens} tokens (see --max-output-tokens)` };
}
