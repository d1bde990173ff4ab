import type { Form } from '@engraft/learning/parts';

type Standing = Pick<Form, 'standing' | 'testRank' | 'plainRank' | 'quoted'>;

/**
 * Where a question comes from, and what it is worth. What a small teacher writes is often no question anybody would
 * ask, even if it reads it back. So a usual wording tests more, and a rephrasing least. The plainest question is one
 * made by rule, else the teacher's first.
 */
const origins = {
  /** A question of the passage itself. */
  stated: { standing: 'question', testRank: 1, plainRank: 2, quoted: true },
  /** The teacher's question for the answer. */
  asked: { standing: 'question', testRank: 1, plainRank: 2 },
  /** A question from the teacher's list of questions and answers. */
  listed: { standing: 'question', testRank: 1, plainRank: 2 },
  /** A question made from the sentence by rule. */
  derived: { standing: 'question', testRank: 1, plainRank: 0 },
  /** Made of a cell of a table, or of a key with its value: right whatever the teacher reads. */
  tabled: { standing: 'question', testRank: 1, plainRank: 0 },
  /** The one of these that tests: no value of the table is trained in such a wording. */
  tested: { standing: 'question', testRank: -1, plainRank: 2 },
  /** The sentence itself, turned into a question. */
  restated: { standing: 'restated', testRank: 1, plainRank: 0 },
  /** The usual way to ask for such a value. */
  template: { standing: 'question', testRank: 0, plainRank: 1 },
  /** Another question in other words. */
  rephrased: { standing: 'question', testRank: 2, plainRank: 2 },
  /** Words of the sentence. */
  keywords: { standing: 'words', testRank: 1, plainRank: 2 },
  /** Such words, which the teacher answered although it answered nothing else. */
  recognised: { standing: 'recognised', testRank: 1, plainRank: 2 },
  /** The sentence with a gap. */
  cloze: { standing: 'gap', testRank: 1, plainRank: 2 },
} as const satisfies Record<string, Standing>;

export type FormOrigin = keyof typeof origins;

export function formOf(question: string, origin: FormOrigin): Form {
  return { question, origin, ...origins[origin] };
}

export function isOf({ origin }: Form, wanted: FormOrigin): boolean {
  return origin === wanted;
}

/** Makes words of the sentence carry the fact from now on. */
export function recognised(form: Form): Form {
  return { ...form, origin: 'recognised', ...origins.recognised };
}
