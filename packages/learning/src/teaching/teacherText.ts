/** Reads a teacher's text without the decoration that chat models add. */
import { opensWithMonthOfGermanAlone } from '../text/germanMonths.js';
import { withoutMarks } from '../text/marks.js';

const label = /^(?:Q|Question)(?: ?\d+)?:[ \t]*/iu;
const item = /^(?:[-*•–]|\d+[.)])[ \t]+/u;
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
  return text
    .split('\n')
    .map(bareLine)
    .filter((line) => line !== '');
}

function bareLine(line: string): string {
  const whole = withoutMarks(line).trim();
  const bare = (isGermanDate(whole) ? whole : whole.replace(item, '')).replace(label, '');
  return /^["“'‘](.+)["”'’]$/u.exec(bare)?.[1] ?? bare;
}

/** "3. Mai" is no third item, but "3. August Wilson" is. */
function isGermanDate(line: string): boolean {
  const [day] = /^\d{1,2}\.[ \t]+/u.exec(line) ?? [];
  return day !== undefined && opensWithMonthOfGermanAlone(line.slice(day.length));
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
  const unmarked = withoutMarks(text.replace(/\r\n?/gu, '\n'));
  const pairs =
    [labelled, plain].map((pattern) => [...unmarked.matchAll(pattern)]).find((found) => found.length > 0) ?? [];
  return pairs.map(([, question = '', answer = '']) => ({ question: question.trim(), answer: answer.trim() }));
}
