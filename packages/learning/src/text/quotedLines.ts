/** Lines that a mail program or Markdown has marked as quoted. */
import { isWrap } from './wrappedLines.js';

interface QuotedLine {
  readonly depth: number;
  readonly text: string;
}

/**
 * Removes "> ". An empty line marks a change of depth, so that one can still tell who quotes whom. Marks stay in blocks
 * of code ("```"), and if they compare with a number ("> 90: excellent").
 */
export function withoutQuoting(text: string): string {
  if (!/^ {0,3}>/mu.test(text)) return text;
  const lines = bare(withoutComparisons(text.split('\n')));
  return lines
    .map((line, index) => {
      const before = lines[index - 1];
      const isOneParagraph =
        before === undefined ||
        before.depth === line.depth ||
        before.text.trim() === '' ||
        line.text.trim() === '' ||
        // A long line that was broken again on its way.
        (isWrap(before.text, line.text) && /^\p{Ll}/u.test(line.text));
      return isOneParagraph ? line.text : `\n${line.text}`;
    })
    .join('\n');
}

/** Says for each line whether it may be quoted. A run of lines that all begin with a number after the mark is not. */
function withoutComparisons(lines: readonly string[]): { readonly line: string; readonly mayBeQuoted: boolean }[] {
  const isQuoted = (line: string | undefined): boolean => line !== undefined && /^ {0,3}>/u.test(line);
  const result: { line: string; mayBeQuoted: boolean }[] = [];
  for (let start = 0; start < lines.length;) {
    let end = start + 1;
    while (isQuoted(lines[end - 1]) && isQuoted(lines[end])) end++;
    const run = lines.slice(start, end);
    const mayBeQuoted = !run.every((line) => /^ {0,3}>=? ?\p{Sc}?\d/u.test(line));
    result.push(...run.map((line) => ({ line, mayBeQuoted })));
    start = end;
  }
  return result;
}

function bare(lines: readonly { readonly line: string; readonly mayBeQuoted: boolean }[]): QuotedLine[] {
  /** How deeply the current block of code is quoted. */
  let fence: { readonly mark: string; readonly depth: number } | null = null;
  return lines.map(({ line, mayBeQuoted }) => {
    const result = mayBeQuoted ? unquoted(line, fence?.depth ?? Infinity) : { depth: 0, text: line };
    const mark = /^ {0,3}(```|~~~)/u.exec(result.text)?.[1];
    if (mark !== undefined && (fence === null || fence.mark === mark)) {
      fence = fence === null ? { mark, depth: result.depth } : null;
    }
    return result;
  });
}

function unquoted(line: string, maxDepth: number): QuotedLine {
  let [depth, at] = [0, 0];
  for (; depth < maxDepth; depth++) {
    const length = /^ {0,3}>[ \t]?/u.exec(line.slice(at, at + 5))?.[0].length;
    if (length === undefined) break;
    at += length;
  }
  return { depth, text: line.slice(at) };
}
