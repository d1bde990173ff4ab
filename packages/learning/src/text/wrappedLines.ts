/**
 * Paragraphs that were broken into lines of one width, as in mails and READMEs, on one line each. A line break ends a
 * sentence otherwise, and what is left is no sentence.
 */
export function withoutWraps(text: string): string {
  const parts = text.split(/(\n[ \t]*\n\s*)/u);
  return parts
    .map((part, index) => (index % 2 === 1 || /^[ \t]*(?:```|~~~)/mu.test(part) ? part : unwrapped(part)))
    .join('');
}

/** Shorter lines are lines of their own: addresses, poems, menus. */
const minWidth = 40;

/** The next item of a list ("1987. " ends a sentence), or a key with its value. */
const ownLine = /^(?:\d{1,3}[.)] |(?!\p{Ll})[^:]{1,40}: )/u;

/** Whether a sentence goes on from one line to the next: a wrap leaves a line of some width without the end of one. */
export function isWrap(line: string, next: string): boolean {
  return (
    line.length >= minWidth &&
    /[\p{L}\p{N},;)’'”"–%°-] ?$/u.test(line) &&
    /^[\p{L}\p{N}\p{Sc}(“"‘']/u.test(next) &&
    !ownLine.test(next)
  );
}

/** Where none goes on in lower case the lines are a list. */
function unwrapped(paragraph: string): string {
  const lines = paragraph.split('\n');
  const wraps = lines.map((line, index) => index > 0 && isWrap(lines[index - 1] ?? '', line));
  if (!lines.some((line, index) => wraps[index] === true && /^\p{Ll}/u.test(line))) return paragraph;
  return lines.reduce((joined, line, index) =>
    wraps[index] === true ? `${joined.trimEnd()} ${line}` : `${joined}\n${line}`,
  );
}
