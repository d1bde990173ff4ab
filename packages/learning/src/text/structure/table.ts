/** A table as its author meant it, in whatever format it was written. */

export interface Table {
  /** One head for each column. All are empty if the table has no heads. */
  readonly heads: readonly string[];
  /** Each row has as many cells as there are heads. */
  readonly rows: readonly (readonly string[])[];
}

/** Trims cells and makes rows equally long. It drops empty rows and columns, and a first column that only counts. */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): Table {
  const width = Math.max(heads.length, ...rows.map(({ length }) => length));
  const whole = [heads, ...rows].map((row) => Array.from({ length: width }, (_, at) => (row[at] ?? '').trim()));
  const columns = Array.from({ length: width }, (_, at) => at).filter((at) => whole.some((row) => row[at] !== ''));
  const [first = [], ...others] = whole.map((row) => columns.map((at) => row[at] ?? ''));
  const filled = others.filter((row) => row.some((cell) => cell !== ''));
  const isIndex =
    first.length > 2 &&
    /^(?:#|no\.?|nr\.?|id|index|)$/iu.test(first[0] ?? '') &&
    doCount(filled.map(([cell = '']) => cell));
  const from = isIndex ? 1 : 0;
  return { heads: first.slice(from), rows: filled.map((row) => row.slice(from)) };
}

/** Whether the cells are 1, 2, 3 and so on, or begin with 0. Other numbers, such as those of dishes, tell something. */
function doCount(cells: readonly string[]): boolean {
  const [first, ...others] = cells.map((cell) => (/^\d{1,6}\.?$/u.test(cell) ? Number.parseInt(cell, 10) : NaN));
  return (first === 0 || first === 1) && others.every((number, index) => number === first + index + 1);
}

/** Swaps rows and columns. The heads of both stay heads, and the corner stays where it is. */
export function turned({ heads, rows }: Table): Table {
  const [corner = '', ...names] = heads;
  return {
    heads: [corner, ...rows.map(([first = '']) => first)],
    rows: names.map((name, column) => [name, ...rows.map((row) => row[column + 1] ?? '')]),
  };
}

/** The table as Markdown, in which all readers hand on what they found. */
export function inMarkdown({ heads, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellText).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

function cellText(cell: string): string {
  return cell
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/(?<!\\)\|/gu, '\\|');
}
