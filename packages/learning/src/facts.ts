import { z } from 'zod';
import { upgradeForm } from './earlierForms.js';
import { wordTokens } from './text/normalise.js';

/**
 * How far a form may be trusted: a `question` that people may ask; `words` of the fact's own sentence, which ask for it
 * but are nothing that people say; such words that the teacher `recognised`, so that they carry a fact by themselves;
 * the sentence `restated` as a question, which is right but tests nothing; or the sentence with a `gap`.
 */
export const formStandings = ['question', 'words', 'recognised', 'restated', 'gap'] as const;
export type FormStanding = (typeof formStandings)[number];

/** One way of asking for a fact. */
export const formSchema = z.preprocess(
  upgradeForm,
  z.object({
    question: z.string(),
    /** Where it came from, in the teacher's own words, for people who look at what was taught. */
    origin: z.string(),
    standing: z.enum(formStandings),
    /** How well it tests what was learned. The lowest of a fact is held out first. */
    testRank: z.number(),
    /** How close it is to the passage's own words. The lowest of a fact is always trained. */
    plainRank: z.number(),
    /** The relation that it words. Wordings of one relation are confirmed together. */
    relation: z.string().optional(),
    /** The teacher found no answer to it, but it is right. It is trained, and does not test what was learned. */
    unanswered: z.boolean().optional(),
    /** It is a sentence of the passage, which is not kept when the job has ended. */
    quoted: z.boolean().optional(),
  }),
);
export type Form = z.infer<typeof formSchema>;

/** Nobody would ask it, so it is only trained, never held out. */
export function isOnlyTrained({ standing }: Form): boolean {
  return standing !== 'question';
}

/** It asks for the fact beyond doubt. A fact without such a form is not taught. */
export function isTrusted({ standing }: Form): boolean {
  return standing !== 'words' && standing !== 'gap';
}

/** It consists of words of the fact's own sentence. */
export function isWorded({ standing }: Form): boolean {
  return standing === 'words' || standing === 'recognised';
}

/** One thing that one sentence of the passage says: an answer, and the ways of asking for it. */
export const factSchema = z.object({
  /** Index of the chunk, and the sentence's start in the passage. */
  chunk: z.number().int(),
  sentenceStart: z.number().int(),
  answer: z.string(),
  /** How likely people are to ask for it, as far as the teacher can tell. */
  salience: z.number().default(0),
  forms: z.array(formSchema).readonly(),
  /** The teacher that asked, where there are several. It confirms what it asked. */
  teacher: z.string().optional(),
  /** The teacher that asked has already confirmed it. */
  confirmed: z.boolean().optional(),
});
export type Fact = z.infer<typeof factSchema>;

/** The words of a question. Two questions with the same key are the same question. */
export function questionKey(question: string): string {
  return wordTokens(question).join(' ');
}
