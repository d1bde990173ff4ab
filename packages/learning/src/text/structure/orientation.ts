/** Finds out which way round a table is: its things may stand in its rows, in its columns, or in both. */
import { commonKind, kindOfCell, momentOf, type CellKind } from './cellKinds.js';
import type { Table } from './table.js';

export type Orientation =
  /** A row for each thing. The columns `names` name it, and the others describe it. */
  | { readonly kind: 'things_in_rows'; readonly names: readonly number[] }
  /** A column for each thing, named by its head. The first cell of a row says what the row tells about all of them. */
  | { readonly kind: 'things_in_columns' }
  /** Attributes and values of one thing, which is named elsewhere. */
  | { readonly kind: 'one_thing' }
  /** Moments in rows and columns, or moments and places. Each cell says what happens. */
  | { readonly kind: 'timetable' }
  /** Each cell belongs equally to its row and its column. */
  | { readonly kind: 'crossed' };

export function orientationOf(table: Table, isAttribute: (label: string) => boolean): Orientation {
  const { heads, rows } = table;
  const [corner = '', ...columns] = heads;
  const labels = rows.map(([first = '']) => first);
  if (columns.length === 0) return { kind: 'things_in_rows', names: [0] };
  if (columns.length === 1) return ofPairs(table, isAttribute);
  const areMoments = (all: readonly string[]): boolean => all.length > 0 && all.every((one) => momentOf(one) !== null);
  const cells = rows.map((row) => row.slice(1));
  const common = commonKind(cells.flat());
  const [momentsDown, momentsAcross] = [areMoments(labels), areMoments(columns)];
  if (momentsDown && common === 'text' && (momentsAcross || columns.every((head) => place.test(head)))) {
    return { kind: 'timetable' };
  }
  if (momentsAcross && common === 'text' && labels.every((label) => place.test(label))) return { kind: 'timetable' };
  if (momentsAcross || (momentsDown && common !== null && common !== 'text')) return { kind: 'crossed' };
  const mixedRows = mixedShare(cells);
  const mixedColumns = mixedShare(columns.map((_, at) => cells.map((row) => row[at] ?? '')));
  if (mixedColumns < mixedRows) return inRows(table);
  if (mixedRows < mixedColumns) return { kind: 'things_in_columns' };
  return byWords(corner, columns, labels, common, isAttribute) ?? inRows(table);
}

/** Heads of attributes. "Birch" says nothing about how it is meant, but that it is a room does. */
const attributeHead = oneOf(
  'propert(?:y|ies) fields? features? attributes? keys? parameters? spec(?:ification)?s? facts? details? settings? ' +
    'criteri(?:on|a) aspects? characteristics? topics?',
);
const place =
  /^(?:the )?(?:room|hall|stage|court|track|studio|lab|pool|lane|field|gym|tent|auditorium|theatre|theater)\b/iu;

/** Whether it is a usual head for a column of attributes, such as "Feature". */
export function isAttributeHead(head: string): boolean {
  return attributeHead.test(head);
}

export function isValueHead(head: string): boolean {
  return /^(?:value|detail|description|info(?:rmation)?)s?$/iu.test(head);
}

/** Two columns are keys and values of one thing if the values are of several kinds, or the heads say so. */
function ofPairs(
  { heads: [corner = '', second = ''], rows }: Table,
  isAttribute: (label: string) => boolean,
): Orientation {
  const labels = rows.map(([first = '']) => first);
  const values = commonKind(rows.map(([, value = '']) => value));
  // "Tarn 3" above the values of its attributes.
  const isThing = second !== '' && !isValueHead(second) && (corner === '' || attributeHead.test(corner));
  if (isThing) return { kind: 'things_in_columns' };
  const isNamed = corner !== '' && second !== '' && !attributeHead.test(corner);
  const areAttributes = labels.filter(isAttribute).length > labels.length / 2;
  return isNamed && !(values === null && areAttributes)
    ? { kind: 'things_in_rows', names: [0] }
    : { kind: 'one_thing' };
}

/** The share of lines whose cells are of more than one kind. */
function mixedShare(lines: readonly (readonly string[])[]): number {
  return lines.filter((cells) => commonKind(cells) === null).length / Math.max(1, lines.length);
}

/** If all cells are of one kind, the words beside and above them say what they are. */
function byWords(
  corner: string,
  columns: readonly string[],
  labels: readonly string[],
  common: CellKind | null,
  isAttribute: (label: string) => boolean,
): Orientation | null {
  const share = (all: readonly string[]): number => all.filter(isAttribute).length / Math.max(1, all.length);
  const [across, down] = [share(columns), share(labels)];
  // Features that products have or lack stand beside the cells, not above.
  const areFlags = common === 'flag' && corner === '';
  if (attributeHead.test(corner) || down > across || areFlags) return { kind: 'things_in_columns' };
  if (across > down) return null;
  return common === 'text' && corner !== '' ? null : { kind: 'crossed' };
}

const naming = oneOf(
  'names? full.name product.name item.name titles? products? models? items? articles? descriptions? projects? ' +
    'company events? sessions? class(?:es)? courses? activit(?:y|ies) talks? tasks? person employees? members? ' +
    'dish destinations?',
);

function oneOf(words: string): RegExp {
  return new RegExp(`^(?:${words.replaceAll(' ', '|')})$`, 'iu');
}

/**
 * The columns that name the things. That is the first; or, if that holds codes or moments, a later one together with
 * it.
 */
function inRows({ heads, rows }: Table): Orientation {
  const cellsOf = (at: number): string[] => rows.map((row) => row[at] ?? '');
  const areDistinct = (cells: readonly string[]): boolean =>
    new Set(cells).size === cells.length && !cells.includes('');
  const mayName = (at: number): boolean =>
    areDistinct(cellsOf(at)) && cellsOf(at).every((cell) => kindOfCell(cell) === 'text');
  const first = cellsOf(0);
  // Below "Time", "9.30" is one.
  const isDotted = (cell: string): boolean => /^\d{1,2}\.\d{2}$/u.test(cell);
  const areDotted = /^time$/iu.test(heads[0] ?? '') && first.every(isDotted);
  const areCodes =
    !areDotted && first.every((cell) => ['code', 'count'].includes(kindOfCell(cell))) && areDistinct(first);
  const areMoments = areDotted || first.every((cell) => momentOf(cell) !== null);
  if (!areCodes && !areMoments) return { kind: 'things_in_rows', names: [0] };
  const columns = heads.map((_, at) => at).slice(1);
  const byHead = columns.find((at) => naming.test(heads[at] ?? '') && mayName(at));
  // Other columns rarely name the thing that happens on a day.
  const named = byHead ?? (areCodes ? columns.find(mayName) : undefined);
  if (named === undefined) return { kind: 'things_in_rows', names: [0] };
  return { kind: 'things_in_rows', names: areCodes ? [named, 0] : [named] };
}
