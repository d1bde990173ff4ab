/**
 * Joins the lines of paragraphs that were wrapped at a fixed width, as in mails and READMEs. Otherwise each line break
 * would end a sentence, and the rest would be none.
 */
export function withoutWraps(text: string): string {
  let open: string | null = null;
  return text
    .split(/(\n[ \t]*\n\s*)/u)
    .map((part, index) => {
      // A block of code may have blank lines.
      const { hasCode, left } = fencesIn(part, open);
      open = left;
      return index % 2 === 1 || hasCode ? part : unwrapped(part);
    })
    .join('');
}

/** Whether a part has code, and the mark of the block that it leaves open. `open` was left by the part before. */
function fencesIn(part: string, open: string | null): { readonly hasCode: boolean; readonly left: string | null } {
  let hasCode = open !== null;
  let left = open;
  for (const line of part.split('\n')) {
    const [, mark, rest = ''] = /^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/u.exec(line) ?? [];
    if (left !== null) {
      if (line.trimEnd().endsWith(left)) left = null;
    } else if (mark !== undefined) {
      hasCode = true;
      if (!rest.includes(mark)) left = mark;
    }
  }
  return { hasCode, left };
}

/** Shorter lines are not wrapped: addresses, poems, menus. */
const minWidth = 40;

/** The next item of a list ("1987. " ends a sentence), or a key with its value. */
const ownLine = /^(?:\d{1,3}[.)] |(?!\p{Ll})[^:]{1,40}: )/u;

/** Whether a sentence continues on the next line. A wrapped line has some width and does not end a sentence. */
export function isWrap(line: string, next: string): boolean {
  return (
    line.length >= minWidth &&
    /[\p{L}\p{N},;)’'”"–%°-] ?$/u.test(line) &&
    /^[\p{L}\p{N}\p{Sc}(“"‘']/u.test(next) &&
    !ownLine.test(next)
  );
}

/** The lines are a list if none continues in lower case. */
function unwrapped(paragraph: string): string {
  const lines = paragraph.split('\n');
  const wraps = lines.map((line, index) => index > 0 && isWrap(lines[index - 1] ?? '', line));
  if (!lines.some((line, index) => wraps[index] === true && /^\p{Ll}/u.test(line))) return paragraph;
  return lines.reduce((joined, line, index) =>
    wraps[index] === true ? `${joined.trimEnd()} ${line}` : `${joined}\n${line}`,
  );
}
