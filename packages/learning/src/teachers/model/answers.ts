/** Answers that may be asked for. */
import type { GenerateResult } from '@engraft/engine';
import { linesOf } from '../../teaching/teacherText.js';
import type { Chunk } from '../../text/chunk.js';
import { containsWords } from '../../text/normalise.js';
import { modelTeacherSettings as settings } from './settings.js';

/** Whether the chunk or sentence says it, in few words. */
export function isAnswer(text: string, source: Pick<Chunk, 'text'>): boolean {
  return text.length <= settings.maxAnswerChars && containsWords(source.text, text);
}

/** An answer as a model writes it, without the mark at its end. */
export function bareAnswer(text: string): string {
  return text.trim().replace(/[.,;:]+$/u, '');
}

/** Drops the last line of a list that was cut off, since that line is cut off, too. */
export function linesIn(result: GenerateResult | null | undefined): string[] {
  const lines = linesOf(result?.text ?? '');
  return result?.finishReason === 'stop' ? lines : lines.slice(0, -1);
}

/** Where the first sentence with the answer begins in the passage. */
export function sentenceStartOf(chunk: Chunk, answer: string): number {
  const sentence = chunk.sentences.find(({ text }) => containsWords(text, answer));
  return sentence?.start ?? chunk.start;
}
