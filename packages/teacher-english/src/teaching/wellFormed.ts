/** Whether a text may be trained as a question for an answer. */
import { containsWords, questionKey } from '@engraft/learning/parts';
import { isNaming } from '../questions/cloze.js';
import { fitsQuestionWord } from '../questions/questionWord.js';
import { findSpans } from '../spans/spans.js';

/** One line that ends in a question mark, has enough words, does not give the answer away, and stands on its own. */
export function isQuestion(text: string, answer: string): boolean {
  return (
    /^[^\n]+\?$/u.test(text) &&
    questionKey(text).split(' ').length >= 3 &&
    !containsWords(text, answer) &&
    fitsQuestionWord(text, answer) &&
    standsAlone(text)
  );
}

/** A small teacher likes to ask about another thing of the passage than the one the answer belongs to. */
export function namesOnly(question: string, about: string): boolean {
  const range = { start: 0, end: question.length, text: question };
  return findSpans(range, question).every((span) => !isNaming(span) || containsWords(about, span.text));
}

/** "How much does it weigh?" means nothing without the passage. */
function standsAlone(question: string): boolean {
  if (!/\b(?:he|she|it|they|him|her|them|his|hers|its|their|theirs)\b/iu.test(question)) return true;
  const range = { start: 0, end: question.length, text: question };
  return findSpans(range, question).some(isNaming);
}

/** A rephrasing that lost or changed a name or a number asks for something else. */
export function keepsNames(source: string, rephrasing: string, answer: string): boolean {
  const range = { start: 0, end: source.length, text: source };
  return findSpans(range, source)
    .filter((span) => span.kind !== 'phrase' && !containsWords(answer, span.text))
    .every((span) => containsWords(rephrasing, span.text));
}
