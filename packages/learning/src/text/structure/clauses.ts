/** Contracts and rules whose sections and clauses have numbers. */

/** "2. Term", "§ 2 Rent", "Article 2: Term". */
const section = /^\s*(?:§ ?|(?:[Ss]ection|[Aa]rticle|[Cc]lause) )?(\d{1,3})[.:)]? +(\p{Lu}[^\n.!?;]{0,60})$/u;
/** "2.1 The agreement", "2.1.3 (b) Either party". */
const clause = /^\s*(?:§ ?)?(\d{1,3})(?:\.\d{1,3})+\.? +(?=["“(]?[\p{Lu}\d$€£])/u;
/** "(1) The rent is due", below a section. */
const paragraph = /^\s*\(\d{1,2}\) +(?=["“]?\p{Lu})/u;

/**
 * The text without the numbers of its clauses, where each of them is one of a section with such a number: nobody asks
 * for a number, and a sentence that begins with one is read as if it told it. Other numbers stay, as those of versions.
 */
export function withoutClauseNumbers(text: string): string {
  const lines = text.split('\n');
  const sections = new Set(lines.flatMap((line) => section.exec(line)?.[1] ?? []));
  if (sections.size === 0) return text;
  const isClause = (line: string): boolean => sections.has(clause.exec(line)?.[1] ?? '');
  const clauses = lines.filter((line) => isClause(line) || paragraph.test(line));
  if (clauses.length < 2) return text;
  return lines
    .map((line) => {
      if (isClause(line)) return line.replace(clause, '');
      if (paragraph.test(line)) return line.replace(paragraph, '');
      return line.replace(section, '$2');
    })
    .join('\n');
}
