/** Markdown marks inside a line, and labels of questions and answers. */

/** A pattern for code: blocks of code, and what stands between backticks in a line. */
export const code = '```[^]*?(?:```|$)|~~~[^]*?(?:~~~|$)|`[^`\\n]+`';

const codeApart = new RegExp(`(${code})`, 'u');

/** Applies `change` to everything in the text that is not code. */
export function outsideCode(text: string, change: (text: string) => string): string {
  return text
    .split(codeApart)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

/** An address, which may hold a pair of brackets, and the title that a browser shows with it. */
const target =
  '\\((?:<[^<>\\n]+>|(?=[^)])[^()\\s]*(?:\\([^()\\s]*\\)[^()\\s]*)?)(?:[ \\t]+(?:"[^"\\n]*"|\'[^\'\\n]*\'))?\\)';
const image = `!\\[[^[\\]\\n]*\\]${target}`;
const link = new RegExp(`\\[([^[\\]\\n]+)\\]${target}`, 'gu');
const crossedOut = '(?<!~)~~[^\\s~](?:[^~\\n]*[^\\s~])?~~(?!~)';
/** With one of the spaces around it. */
const shownNowhere = [`\\[${image}\\]${target}`, image, crossedOut].map(
  (each) => new RegExp(`(?<!\\S)${each}(?: |$)| ?${each}`, 'gmu'),
);

/**
 * Replaces emphasis and links by their words. Images, and words that are crossed out, leave nothing. Code keeps its
 * marks and its content, since it is one thing.
 */
export function withoutMarks(text: string): string {
  return outsideCode(text, withoutEmphasis);
}

function withoutEmphasis(text: string): string {
  return (
    shownNowhere
      .reduce((shown, pattern) => shown.replace(pattern, ''), text)
      // "2**16", "2 ** 16" and "π**2" are powers. A letter of a script without spaces may stand before a mark.
      .replace(/(?<![\w)\]\p{N}\p{Script=Greek}])(\*{2,3})([^\s*](?:[^*\n]*[^\s*(])?)\1/gu, '$2')
      // Editors often leave the space behind a label inside the marks: "**Weight: **8 kg".
      .replace(/(?<![\w)\]*\p{N}\p{Script=Greek}])\*\*([^\s*][^*\n]*: )\*\*/gu, '$1')
      .replace(/(?<=\p{L})\*\*(\p{L}{2,})\*\*/gu, '$1')
      .replace(/(?<![\p{L}\p{N}_])__([^_\n]+)__(?![\p{L}\p{N}_])/gu, '$1')
      .replace(/(?<![\p{L}\p{N}*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\p{L}\p{N}*])/gu, '$1')
      .replace(link, '$1')
  );
}

const definition =
  /^ {0,3}\[([^[\]\n]+)\]:[ \t]+<?(?:https?:\/\/|mailto:|#|\.{0,2}\/)\S*(?:[ \t]+["'(][^\n]*)?(?:\n|$)/gmu;

/** Removes lines such as "[1]: https://…", and replaces links to them by their words. */
export function withoutReferences(text: string): string {
  const labels = new Set<string>();
  const bare = outsideCode(text, (part) =>
    part.replace(definition, (_, label: string) => {
      labels.add(label.toLowerCase());
      return '';
    }),
  );
  if (labels.size === 0) return text;
  return outsideCode(bare, (part) =>
    part.replace(/(!?)\[([^[\]\n]+)\]\[([^[\]\n]*)\]/gu, (found, mark: string, shown: string, label: string) => {
      if (!labels.has((label === '' ? shown : label).toLowerCase())) return found;
      return mark === '' ? shown : '';
    }),
  );
}

/**
 * Removes the labels of "Q: When does it open?" and "A: At 7:00." if the text has both, and the numbers of questions
 * ("Q1.") if it has several.
 */
export function withoutLabels(text: string): string {
  const numbered = /^([ \t]*(?:#{1,6} )?(?:\*\*)?)(?:Q|Question) ?\d{1,2}[:.)][ \t]+(?=[^\n]*\?)/gmu;
  return withoutPlainLabels((text.match(numbered)?.length ?? 0) > 1 ? text.replace(numbered, '$1') : text);
}

function withoutPlainLabels(text: string): string {
  const question = /^(?:\*\*)?(?:Q|Question)(?:\*\*)?[:.)](?:\*\*)?[ \t]+/gmu;
  const answer = /^(?:\*\*)?(?:A|Answer)(?:\*\*)?[:.)](?:\*\*)?[ \t]+/gmu;
  return text.search(question) >= 0 && text.search(answer) >= 0 ? text.replace(question, '').replace(answer, '') : text;
}
