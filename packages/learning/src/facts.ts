import { z } from 'zod';
import { wordTokens } from './text/normalise.js';

/**
 * How a question came about: the passage's own, asked for the answer, listed, made by rule, the usual way to ask for such a value, in other words than
 * another, words of the sentence, such words that the teacher answered where it answered nothing else, or the sentence with a gap.
 */
export const formOriginSchema = z.enum([
  'stated',
  'asked',
  'listed',
  'derived',
  'template',
  'rephrased',
  'keywords',
  'recognised',
  'cloze',
]);
export type FormOrigin = z.infer<typeof formOriginSchema>;

/** One way of asking for a fact. */
export const formSchema = z.object({
  question: z.string(),
  origin: formOriginSchema,
  /** Of a template: wordings of one relation, which are confirmed together. */
  relation: z.string().optional(),
  /** Made by rule, and the teacher found no answer to it: trained, but no test of what was learned. */
  unanswered: z.boolean().optional(),
});
export type Form = z.infer<typeof formSchema>;

/** Made of the sentence's own words, and nothing that people would ask: only trained, never held out. */
export function isOnlyTrained({ origin }: Form): boolean {
  return origin === 'cloze' || origin === 'keywords' || origin === 'recognised';
}

/** The teacher answered it as expected, or it is made by rule; a fact without such a form is not taught. */
export function isTrusted({ origin }: Form): boolean {
  return origin !== 'cloze' && origin !== 'keywords';
}

/** One thing that one sentence of the passage says: an answer, and the ways of asking for it. */
export const factSchema = z.object({
  /** Index of the chunk, and the sentence's start in the passage. */
  chunk: z.number().int(),
  sentenceStart: z.number().int(),
  answer: z.string(),
  /** How likely anybody asks for it, see `salienceOf`. */
  salience: z.number().default(0),
  forms: z.array(formSchema).readonly(),
});
export type Fact = z.infer<typeof factSchema>;

/** Two questions with one key are the same question: only words count. */
export function questionKey(question: string): string {
  return wordTokens(question).join(' ');
}
