/**
 * Paragraphs with people's questions about them, in the formats of SQuAD (Rajpurkar et al., 2016, and 2018 for
 * questions without an answer).
 */
import { z } from 'zod';
import { fieldPath, parseJson } from '../json.js';

export interface ParagraphQuestion {
  readonly question: string;
  /** Spans of the paragraph, any of which is right. Empty if the paragraph does not say. */
  readonly answers: readonly string[];
}

export interface Paragraph {
  readonly title: string;
  readonly context: string;
  readonly questions: readonly ParagraphQuestion[];
}

export type ParagraphSet =
  | { readonly kind: 'read'; readonly paragraphs: readonly Paragraph[] }
  /** `line` counts from 1, and is 1 for a file that is one document. `field` is a path such as `data[0].title`. */
  | { readonly kind: 'invalid'; readonly line: number; readonly field: string; readonly message: string };

const filled = z.string().min(1);
/** Many data sets have no titles. */
const titleSchema = z
  .string()
  .nullish()
  .transform((title) => title ?? '');
const listedAnswers = z.array(z.object({ text: filled }).transform(({ text }) => text));

/** SQuAD's own file: one document. */
const documentSchema = z.object({
  data: z.array(
    z.object({
      title: titleSchema,
      paragraphs: z.array(
        z.object({
          context: filled,
          qas: z.array(
            z.object({
              question: z.string(),
              answers: listedAnswers.nullish(),
              is_impossible: z.boolean().default(false),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** One paragraph a line. */
const paragraphSchema = z.object({
  title: titleSchema,
  context: filled,
  qas: z.array(z.object({ q: z.string(), a: z.array(filled) })),
});

function rowOf<Answers extends z.ZodType<readonly string[]>>(answers: Answers) {
  return z.object({
    title: titleSchema,
    context: filled,
    question: z.string(),
    answers: answers.nullable(),
    is_impossible: z.boolean().default(false),
  });
}

/** One question a line, as in data sets on hubs. */
const rowSchema = rowOf(z.object({ text: z.array(filled) }).transform(({ text }) => text));
/** A row whose answers are listed as in SQuAD's own file. Two schemas name a wrong field better than their union. */
const listedRowSchema = rowOf(listedAnswers);

/** As in our own format, in UTF-16 units. */
const maxQuestionChars = 400;

/**
 * Reads a file's text: SQuAD's own document, or lines of paragraphs or questions. Empty lines are ignored. So are
 * questions that are blank, or longer than `maxQuestionChars`: SQuAD itself has a few of them.
 */
export function parseParagraphs(text: string): ParagraphSet {
  // Some editors begin a file with a byte order mark.
  const content = text.replace(/^\uFEFF/u, '');
  const whole = parseJson(content);
  if (whole !== undefined && typeof whole === 'object' && whole !== null && 'data' in whole) {
    const parsed = documentSchema.safeParse(whole);
    return parsed.success ? read(fromDocument(parsed.data)) : invalid(1, parsed.error);
  }
  const paragraphs: Paragraph[] = [];
  const rows: z.infer<typeof rowSchema>[] = [];
  for (const [index, line] of content.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parseJson(line);
    if (value !== undefined && typeof value === 'object' && value !== null && 'question' in value) {
      const isListed = 'answers' in value && Array.isArray(value.answers);
      const row = (isListed ? listedRowSchema : rowSchema).safeParse(value);
      if (!row.success) return invalid(index + 1, row.error);
      rows.push(row.data);
      continue;
    }
    const paragraph = paragraphSchema.safeParse(value);
    if (!paragraph.success) return invalid(index + 1, paragraph.error);
    const { title, context, qas } = paragraph.data;
    paragraphs.push({ title, context, questions: qas.map(({ q, a }) => ({ question: q, answers: a })) });
  }
  return read([...paragraphs, ...fromRows(rows)]);
}

function read(all: readonly Paragraph[]): ParagraphSet {
  const paragraphs = all.map(({ questions, ...paragraph }) => ({ ...paragraph, questions: askable(questions) }));
  if (paragraphs.some(({ questions }) => questions.length > 0)) return { kind: 'read', paragraphs };
  return { kind: 'invalid', line: 1, field: '', message: 'there is no paragraph with a question in the file' };
}

function askable(questions: readonly ParagraphQuestion[]): ParagraphQuestion[] {
  return questions
    .map(({ question, answers }) => ({ question: question.trim(), answers: distinct(answers) }))
    .filter(({ question }) => question !== '' && question.length <= maxQuestionChars);
}

function fromDocument({ data }: z.infer<typeof documentSchema>): Paragraph[] {
  return data.flatMap(({ title, paragraphs }) =>
    paragraphs.map(({ context, qas }) => ({
      title,
      context,
      questions: qas.map(({ question, answers, is_impossible }) => ({
        question,
        answers: rightAnswers(answers, is_impossible),
      })),
    })),
  );
}

/** The questions of one paragraph need not stand together. */
function fromRows(rows: readonly z.infer<typeof rowSchema>[]): Paragraph[] {
  const byContext = new Map<string, { title: string; context: string; questions: ParagraphQuestion[] }>();
  for (const { title, context, question, answers, is_impossible } of rows) {
    const paragraph = byContext.get(context) ?? { title, context, questions: [] };
    byContext.set(context, paragraph);
    paragraph.questions.push({ question, answers: rightAnswers(answers, is_impossible) });
  }
  return [...byContext.values()];
}

/** Those of a question that the paragraph does not answer are only plausible. */
function rightAnswers(answers: readonly string[] | null | undefined, isImpossible: boolean): readonly string[] {
  return isImpossible ? [] : (answers ?? []);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}

function invalid(line: number, error: z.ZodError): ParagraphSet {
  const [issue] = error.issues;
  if (issue === undefined || issue.path.length === 0) {
    const message =
      'must be a SQuAD document, a paragraph {title, context, qas}, or a row {title, context, question, answers}';
    return { kind: 'invalid', line, field: '', message };
  }
  return { kind: 'invalid', line, field: fieldPath(issue.path), message: issue.message };
}
