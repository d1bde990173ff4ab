/** Answers that may be asked for. */
import type { Chunk } from '../../text/chunk.js';
import { containsWords } from '../../text/normalise.js';
import { modelTeacherSettings as settings } from './settings.js';

/** Whether the chunk says it, in few words. */
export function isAnswer(text: string, chunk: Chunk): boolean {
  return text.length <= settings.maxAnswerChars && containsWords(chunk.text, text);
}

/** Where the first sentence with the answer begins in the passage. */
export function sentenceStartOf(chunk: Chunk, answer: string): number {
  const sentence = chunk.sentences.find(({ text }) => containsWords(text, answer));
  return sentence?.start ?? chunk.start;
}
