/** Reads what a remote model wrote, which may be anything. */
import { z } from 'zod';
import { parseList } from '../../teaching/teacherText.js';
import type { QuestionAnswer } from '../../types.js';
import { remoteTeacherSettings as settings } from './settings.js';

/**
 * Finds questions and answers, as lines or as JSON, whatever stands around them. Text that cannot be a question is left
 * out.
 */
export function pairsIn(text: string, maxTokens: number): QuestionAnswer[] {
  const read = text.slice(0, maxTokens * settings.charsPerToken);
  return (jsonPairs(read) ?? parseList(read))
    .filter(({ question }) => isQuestion(question))
    .slice(0, settings.maxPairs);
}

const jsonList = z.array(
  z.object({ question: z.string(), answer: z.union([z.string(), z.number().transform(String)]) }),
);

function jsonPairs(text: string): QuestionAnswer[] | null {
  const start = text.indexOf('[');
  const end = text.lastIndexOf(']');
  if (start < 0 || end < start) return null;
  try {
    return jsonList.safeParse(JSON.parse(text.slice(start, end + 1))).data ?? null;
  } catch {
    return null;
  }
}

/** Control characters, and the marks between messages in chat templates: `<|…|>`, `[INST]`, `<s>`. */
const markup = /\p{Cc}|<\||\|>|\[\/?INST\]|<\/?[a-z_]+>/u;

function isQuestion(text: string): boolean {
  return text.length <= settings.maxQuestionChars && !markup.test(text);
}
