/** Facts whose forms are still being gathered. */
import { questionKey, type Fact, type Form } from '../../facts.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import type { Chunk } from '../../text/chunk.js';
import { normalise } from '../../text/normalise.js';
import { bareAnswer, isAnswer, sentenceStartOf } from './answers.js';
import { formOf } from './asking.js';

export interface Draft {
  readonly chunk: number;
  readonly answer: string;
  /** How many lists have named it. */
  named: number;
  readonly forms: Map<string, Form>;
}

/** `null` for an answer that the chunk does not give, or not in so few words. */
export function draftOf(drafts: Map<string, Draft>, chunk: Chunk, index: number, text: string): Draft | null {
  const answer = bareAnswer(text);
  if (!isAnswer(answer, chunk)) return null;
  const key = `${index} ${normalise(answer)}`;
  const draft = drafts.get(key) ?? { chunk: index, answer, named: 0, forms: new Map<string, Form>() };
  draft.named++;
  drafts.set(key, draft);
  return draft;
}

export function addForm(
  { answer, forms }: Draft,
  question: string | null,
  origin: 'asked' | 'listed' | 'rephrased',
): void {
  const form = question === null ? null : formOf(answer, question, origin);
  const key = form === null ? '' : questionKey(form.question);
  if (form !== null && !forms.has(key)) forms.set(key, form);
}

/** The drafts that have questions, as facts. */
export function factsOf({ chunks }: TaughtPassage, drafts: readonly Draft[]): Fact[] {
  const lists = Math.max(1, ...drafts.map(({ named }) => named));
  return drafts
    .filter(({ forms }) => forms.size > 0)
    .map(({ chunk: index, answer, named, forms }) => {
      const chunk = chunks[index];
      return {
        chunk: index,
        sentenceStart: chunk === undefined ? 0 : sentenceStartOf(chunk, answer),
        answer,
        salience: named / lists,
        forms: [...forms.values()],
      };
    });
}
