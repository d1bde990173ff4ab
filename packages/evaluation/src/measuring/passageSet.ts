/** A file of passages with people's questions, one JSON object a line. Learning is measured with it. */
import { z } from 'zod';
import { fieldPath, parseJson } from '../json.js';

const phrase = z.string().trim().min(1).max(400);

const questionSchema = z.strictObject({
  /** Ways of asking the same. `gold` trains the first, and the others are never trained. */
  phrasings: z.array(phrase).min(2).readonly(),
  /** Short spans. Any of them is right after normalisation. */
  answers: z.array(phrase).min(1).readonly(),
});

const entrySchema = z.strictObject({
  id: z.string().regex(/^[\w.-]{1,64}$/u, 'must be 1 to 64 letters, digits, dots, hyphens or underscores'),
  kind: z.string().min(1).max(64),
  /** 20–16,000 UTF-16 units, as in the API. */
  passage: z.string().min(20).max(16_000),
  questions: z.array(questionSchema).min(1).readonly(),
});

export type PassageQuestion = z.infer<typeof questionSchema>;
export type PassageEntry = z.infer<typeof entrySchema>;

export type PassageSet =
  | { readonly kind: 'read'; readonly passages: readonly PassageEntry[] }
  /** `line` counts from 1. `field` is a path such as `questions[2].answers`, and empty for the line as a whole. */
  | { readonly kind: 'invalid'; readonly line: number; readonly field: string; readonly message: string };

/** Reads the file's text, and stops at the first error. Empty lines are ignored. */
export function parsePassageSet(text: string): PassageSet {
  const passages: PassageEntry[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    if (content.trim() === '') continue;
    const parsed = entrySchema.safeParse(parseJson(content));
    if (!parsed.success) return { kind: 'invalid', line, ...firstIssue(parsed.error) };
    const { id } = parsed.data;
    const earlier = lineOf.get(id);
    if (earlier !== undefined) {
      return { kind: 'invalid', line, field: 'id', message: `must be unique; line ${earlier} has '${id}' too` };
    }
    lineOf.set(id, line);
    passages.push(parsed.data);
  }
  if (passages.length === 0) return { kind: 'invalid', line: 1, field: '', message: 'there is no passage in the file' };
  return { kind: 'read', passages };
}

function firstIssue(error: z.ZodError): { field: string; message: string } {
  const [issue] = error.issues;
  if (issue === undefined) return { field: '', message: 'not valid' };
  if (issue.path.length === 0 && issue.code === 'invalid_type') {
    return { field: '', message: 'must be a JSON object with id, kind, passage and questions' };
  }
  return { field: fieldPath(issue.path), message: issue.message };
}
