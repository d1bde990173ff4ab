import { withoutEntities } from './entities.js';
import { withoutInvisible } from './invisible.js';
import { code, outsideCode } from './marks.js';
import { withoutQuoting } from './quotedLines.js';
import { windowsCharacter } from './windows.js';

/**
 * Turns a passage into what somebody would type. It undoes what word processors, spreadsheets, web pages and mail
 * programs leave in copied text. Spaces and line ends become plain, quotes straight, and letters whole. References of
 * HTML, invisible characters and quote marks go.
 *
 * Text that was typed stays as it is, to the last character. So the function is idempotent.
 */
export function asTyped(content: string): string {
  let text = content;
  for (;;) {
    // Goes on to what is undone above, since a reference may stand for any of it.
    const plainer = withoutQuoting(outsideCode(withTypedCharacters(text), withTypedMarks));
    if (plainer === text) return text;
    text = plainer;
  }
}

const lineEnd = /\r\n?|[\v\f\u0085\u2028\u2029]/gu;
const ofWindows = /[\u0080-\u009F]/gu;
/** Hyphens from Word and typesetting, but no dash: a dash separates. */
const hyphen = /[\u2010-\u2012]/gu;
/** "ﬁ" of a PDF file. */
const ligature = /[\uFB00-\uFB06]/gu;

function withTypedCharacters(text: string): string {
  const lines = withTypedSpaces(
    text.replace(lineEnd, '\n').replace(ofWindows, (control) => windowsCharacter(control.charCodeAt(0))),
  );
  return withoutInvisible(lines)
    .normalize('NFC')
    .replace(hyphen, '-')
    .replace(ligature, (letters) => letters.normalize('NFKC'));
}

/** All spaces of Unicode but our own, and three blanks that count as letters or symbols. */
const otherSpace = /(?! )[\p{Zs}\u3164\uFFA0\u2800]/gu;
const codeOrSpaces = new RegExp(`(${code})|[ \\t\\p{Zs}\\u3164\\uFFA0\\u2800]+`, 'gu');

/** One space between two words if there is any space but ours. A line begins with as many spaces as it has. */
function withTypedSpaces(text: string): string {
  return text.replace(codeOrSpaces, (found: string, inCode: string | undefined, at: number) => {
    const isIndent = at === 0 || text[at - 1] === '\n';
    const typed = found.replace(otherSpace, ' ');
    return inCode !== undefined || isIndent || (typed === found && !found.includes('\t')) ? typed : ' ';
  });
}

function withTypedMarks(text: string): string {
  return withoutEntities(text)
    .replace(/[“”„‟]/gu, '"')
    .replace(/[‘’‚‛]|(?<=\p{L})´(?=\p{L})/gu, "'");
}
