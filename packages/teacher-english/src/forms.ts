import type { Form } from '@engraft/learning/parts';

type Standing = Pick<Form, 'standing' | 'testRank' | 'plainRank' | 'quoted'>;

/**
 * How a question came about, and what it is worth. What a small teacher writes is often no question anybody would ask,
 * even when it reads it back, so a usual wording tests more, and what it rephrased least. The plainest is one made by
 * rule, else the teacher's first.
 */
const origins = {
  /** The passage's own question. */
  stated: { standing: 'question', testRank: 1, plainRank: 2, quoted: true },
  /** The teacher's, asked for the answer. */
  asked: { standing: 'question', testRank: 1, plainRank: 2 },
  /** The teacher's, of its list of questions and answers. */
  listed: { standing: 'question', testRank: 1, plainRank: 2 },
  /** Made of the sentence by rule. */
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
  /** Such words that the teacher answered where it answered nothing else. */
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

/** Words of the sentence that carry the fact from now on. */
export function recognised(form: Form): Form {
  return { ...form, origin: 'recognised', ...origins.recognised };
}
