/** Contracts and rules whose sections and clauses have numbers. */
import { isTitle } from './headings.js';

/** "2. Term", "B. Term", "§ 2 Rent", "Article 2: Term"; "3 Fees" is one if clauses have its number. */
const section =
  /^\s*(§ ?|(?:[Ss]ection|[Aa]rticle|[Cc]lause) )?(\d{1,3}(?=[.:) ])|[A-Z](?=[.:)]))([.:)]?) +(?=\p{Lu}[^\n.!?;]{0,60}$)/u;
/** "2.1 The agreement", "2.1.3 (b) Either party". */
const clause = /^\s*(?:§ ?)?(\d{1,3})(?:\.\d{1,3})+\.? +(?=["“(]?[\p{Lu}\d$€£])/u;
/** "(1) The rent is due", "a) The rent is due", "(iv) The rent is due", below a section. */
const paragraph = /^\s*(?:\(\d{1,2}\)|\(?(?:[a-z]|[ivx]{2,4})\)) +(?=["“]?[\p{Lu}\d$€£])/u;

/**
 * The text without the numbers of its clauses and of the sections that have them: nobody asks for such a number, and a
 * sentence that begins with one is read as if it told it. Other numbers stay, as those of versions, houses and days.
 */
export function withoutClauseNumbers(text: string): string {
  return readClauses(text).text;
}

/** The titles of such sections, and the text's own first line if it stands alone. */
export function clauseTitles(text: string): string[] {
  const { titles } = readClauses(text);
  const [first = '', second] = text.trimStart().split('\n');
  const isAlone = second?.trim() === '' && isTitle(first.trim());
  return titles.length === 0 ? [] : [...(isAlone ? [first.trim()] : []), ...titles];
}

interface Clauses {
  /** Without the numbers. */
  readonly text: string;
  /** Titles of the sections whose numbers were removed. */
  readonly titles: readonly string[];
}

function readClauses(text: string): Clauses {
  const none = { text, titles: [] };
  const lines = text.split('\n');
  const sections = new Set(lines.flatMap((line) => section.exec(line)?.[2] ?? []));
  if (sections.size === 0) return none;
  const clauseOf = (line: string): string | undefined => clause.exec(line)?.[1];
  const numbered = new Set(lines.flatMap((line) => clauseOf(line) ?? []).filter((number) => sections.has(number)));
  const isClause = (line: string): boolean => numbered.has(clauseOf(line) ?? '');
  const clauses = lines.filter((line) => isClause(line) || paragraph.test(line));
  if (clauses.length < 2) return none;
  const titles: string[] = [];
  const bare = lines.map((line, index) => {
    if (isClause(line)) return line.replace(clause, '');
    if (paragraph.test(line)) return line.replace(paragraph, '');
    if (!isSection(line, lines.slice(index + 1), numbered)) return line;
    const title = line.replace(section, '');
    titles.push(title.trim());
    return title;
  });
  return { text: bare.join('\n'), titles };
}

/** Whether the line heads clauses of its number, or is marked as a section and has a paragraph "(1)" right below. */
function isSection(line: string, below: readonly string[], numbered: ReadonlySet<string>): boolean {
  const [, mark, number = '', ending = ''] = section.exec(line) ?? [];
  if (numbered.has(number)) return true;
  const next = below.find((each) => each.trim() !== '') ?? '';
  return (mark !== undefined || ending !== '') && paragraph.test(next);
}
