/** Reads a teacher's text without the decoration that chat models add. */
import { withoutMarks } from '../text/marks.js';

const label = /^(?:Q|Question)(?: ?\d+)?:[ \t]*/iu;
const item = /^(?:[-*•–]|\d+[.)])[ \t]+/u;
const number = /^[ \t]*(\d+)\.[ \t]/u;
const questionWord =
  '(?:What|Who|Whom|Whose|Where|When|Why|How|Which|In|At|On|By|From|For|To|With|Of|Until|Is|Are|Was|Were|Did|Does|Do|Has|Have|Can)';
const preface = new RegExp(`^(?!${questionWord}\\b)[^?]{1,120}: +(?=${questionWord}\\b)`, 'u');

/**
 * The first question: "Who built it?" in "Sure! Here is one: **Who built it?**". Returns the text itself if it has
 * none.
 */
export function questionIn(text: string): string {
  const question = text
    .split('\n')
    .map(bareLine)
    .find((line) => /[?？؟]$/u.test(line));
  return question?.replace(preface, '') ?? text.trim();
}

/** The lines of a list, without numbers, bullets, labels and quotation marks. Empty lines are left out. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const isNumbered = isCount(lines.flatMap((line) => number.exec(withoutMarks(line))?.[1] ?? []).map(Number));
  return lines
    .map((line) => (number.test(withoutMarks(line)) && !isNumbered ? withoutMarks(line).trim() : bareLine(line)))
    .filter((line) => line !== '');
}

/** "3. Mai" and "12. April" are dates, and no items of a list. */
function isCount([first = 1, ...others]: readonly number[]): boolean {
  return others.length === 0 ? first === 1 : others.every((each, index) => each === first + index + 1);
}

function bareLine(line: string): string {
  const bare = withoutMarks(line).trim().replace(item, '').replace(label, '');
  return /^["“'‘](.+)["”'’]$/u.exec(bare)?.[1] ?? bare;
}

/**
 * Reads a list of questions and answers, numbered, labelled, emphasised or plain. A question without an answer is left
 * out.
 */
export function parseList(text: string): { question: string; answer: string }[] {
  const labelled =
    /^[ \t]*(?:(?:\d+[.)]|[-*])[ \t]+)?(?:Q|Question)(?: ?\d+)?:[ \t]*(.+)\n+[ \t-]*(?:A|Answer)(?: ?\d+)?:[ \t]*(.+)$/gmu;
  const plain =
    /^[ \t]*(?:(?:\d+[.)]|[-*])[ \t]+)?([\p{Lu}\p{Lo}][^\n]*[?？؟])\n+[ \t]*(?:[-*–][ \t]+)?(?:(?:A|Answer):[ \t]*)?([^\n?？؟]+)$/gmu;
  const unmarked = withoutMarks(text);
  const pairs =
    [labelled, plain].map((pattern) => [...unmarked.matchAll(pattern)]).find((found) => found.length > 0) ?? [];
  return pairs.map(([, question = '', answer = '']) => ({ question: question.trim(), answer: answer.trim() }));
}
