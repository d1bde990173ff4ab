/** Markdown's marks inside a line, and the labels of questions and answers. */

/** The source of a pattern of code: blocks of it and what stands between marks in a line. */
export const code = '```[^]*?(?:```|$)|~~~[^]*?(?:~~~|$)|`[^`\\n]+`';

const codeApart = new RegExp(`(${code})`, 'u');

/** The text with what `change` makes of all that is no code. */
export function outsideCode(text: string, change: (text: string) => string): string {
  return text
    .split(codeApart)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

/**
 * Emphasis and links as the words that they mark. Marks of code stay, and what is between them: that is one thing,
 * whatever it consists of.
 */
export function withoutMarks(text: string): string {
  return outsideCode(text, withoutEmphasis);
}

function withoutEmphasis(text: string): string {
  return text
    .replace(/\*\*([^*\n]+)\*\*/gu, '$1')
    .replace(/(?<![\p{L}\p{N}_])__([^_\n]+)__(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/(?<![\p{L}\p{N}*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\p{L}\p{N}*])/gu, '$1')
    .replace(/\[([^[\]\n]+)\]\([^()\s]+\)/gu, '$1');
}

/** "Q: When does it open?" and "A: At 7:00." without their labels, where both occur. */
export function withoutLabels(text: string): string {
  const question = /^(?:\*\*)?(?:Q|Question)(?:\*\*)?[:.)](?:\*\*)?[ \t]+/gmu;
  const answer = /^(?:\*\*)?(?:A|Answer)(?:\*\*)?[:.)](?:\*\*)?[ \t]+/gmu;
  return text.search(question) >= 0 && text.search(answer) >= 0 ? text.replace(question, '').replace(answer, '') : text;
}
