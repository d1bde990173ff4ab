/**
 * Paragraphs that were broken into lines of one width, as in mails and READMEs, on one line each. A line break ends a sentence otherwise, and
 * what is left is no sentence.
 */
export function withoutWraps(text: string): string {
  const parts = text.split(/(\n[ \t]*\n\s*)/u);
  return parts
    .map((part, index) => (index % 2 === 1 || /^[ \t]*(?:```|~~~)/mu.test(part) ? part : unwrapped(part)))
    .join('');
}

/** Shorter lines are lines of their own: addresses, poems, menus. */
const minWidth = 40;

/** The next item of a list, or a key with its value. */
const ownLine = /^(?:\d+[.)] |[^:]{1,40}: )/u;

/** A wrap leaves a line of some width without the end of a sentence; where none goes on in lower case the lines are a list. */
function unwrapped(paragraph: string): string {
  const lines = paragraph.split('\n');
  const isWrap = (index: number): boolean => {
    const [line = '', next = ''] = [lines[index], lines[index + 1]];
    return (
      line.length >= minWidth &&
      /[\p{L}\p{N},;)’'”"–-]$/u.test(line) &&
      /^[\p{L}\p{N}(“"‘]/u.test(next) &&
      !ownLine.test(next)
    );
  };
  const wraps = lines
    .slice(1)
    .map((next, index) => ({ at: index + 1, goesOn: isWrap(index) && /^\p{Ll}/u.test(next) }));
  if (!wraps.some(({ goesOn }) => goesOn)) return paragraph;
  return lines.reduce((joined, line, index) => `${joined}${isWrap(index - 1) ? ' ' : '\n'}${line}`);
}
