/** Questions for a cell that belongs equally to its row and its column, such as a fare or a price for some time. */
import { capitalised, copulaOf, isEvent, type Told } from '@engraft/learning/parts';
import type { SpanKind } from '../spans/spans.js';
import { columnNames, isPeriod, oneOf, rowNames, spokenNames, unshared } from './spokenNames.js';
import { momentTemplates, type Wordings } from './wordings.js';

type Crossing = Extract<Told, { kind: 'crossing' }>;

/** Names of both, in either order, without the pairs that only tests have. */
export function crossedNames(told: Crossing): string[] {
  if (told.moment !== null) return [`${told.row} ${told.moment}`, `${told.moment} ${told.row}`];
  return pairsOf(told).trained.flatMap(([row, column]) => [`${row} ${column}`, `${column} ${row}`]);
}

/** The names that no other row has: beside "Small (5 m²)", "Small (3 m²)" has only the whole. */
function rowsOf({ row, noun, others }: Crossing): string[] {
  const those = others.rows.filter((other) => other !== row);
  return unshared(
    rowNames(row, noun),
    those.flatMap((other) => [other, ...rowNames(other, noun)]),
  );
}

function columnsOf({ column, others }: Crossing): string[] {
  const those = others.columns.filter((other) => other !== column);
  return unshared(
    columnNames(column),
    those.flatMap((other) => [other, ...columnNames(other)]),
  );
}

/** Names of a row whose cells are hours or values at some moment. */
function spokenRows({ row, others }: Crossing): string[] {
  const those = others.rows.filter((other) => other !== row);
  return unshared(
    spokenNames(row, null),
    those.flatMap((other) => spokenNames(other, null)),
  );
}

export function ofCrossing(told: Crossing, kind: SpanKind): Wordings {
  const { measure, moment } = told;
  if (measure !== null && /hours|times/u.test(measure)) return ofHours(told, measure);
  return moment === null ? ofCell(told, kind) : ofRow(told, moment);
}

function ofHours(told: Crossing, measure: string): Wordings {
  const { answer, row, column, moment } = told;
  const names = spokenRows(told);
  const where = moment ?? `for ${column}`;
  const restated = `When is ${row} open ${where}?`;
  const asked = names.flatMap((name) => [
    ...(answer === 'closed' ? [`Is ${name} open ${where}?`] : []),
    `When is ${name} open ${where}?`,
    `What are the ${measure} of ${name} ${where}?`,
    `When does ${name} open ${where}?`,
    `${capitalised(where)}, when is ${name} open?`,
    ...(moment?.startsWith('on ') === true ? [`What are the ${moment.slice('on '.length)} hours of ${name}?`] : []),
  ]);
  return { restated, asked: [...asked, `When can I go to ${names.at(-1) ?? row} ${where}?`] };
}

/** The value of a row at some moment: "the temperature of Oslo in May". */
function ofRow(told: Crossing, moment: string): Wordings {
  const { measure, row } = told;
  const [value, name] = [measure ?? 'value', spokenRows(told).at(-1) ?? row];
  return {
    restated: `What ${copulaOf(measure ?? row)} the ${value} of ${row} ${moment}?`,
    asked: [
      `${capitalised(moment)}, what is the ${value} of ${row}?`,
      `What is the ${value} for ${name} ${moment}?`,
      `Which ${value} does ${name} have ${moment}?`,
    ],
  };
}

type Pair = readonly [row: string, column: string];

interface Pairs {
  readonly trained: readonly Pair[];
  /**
   * Names that are trained with others only. The last trained pair where row and column have too few names for that:
   * one of them one name, and the other at most two.
   */
  readonly tested: Pair;
}

/**
 * People name a row by a part of its name, and a column in words of their own. Of the pairs of such names some are kept
 * for the test, so that it says whether the cell is known by each name of its row and column.
 */
function pairsOf(told: Crossing): Pairs {
  const { row, column } = told;
  const [rows, columns] = [rowsOf(told), columnsOf(told)];
  const isKept = keptOf(rows.length, columns.length, `${row} ${column}`);
  const pairs = rows.flatMap((rowName, index) =>
    columns.map((columnName, at) => ({ pair: [rowName, columnName] as const, isTest: isKept(index, at) })),
  );
  const trained = pairs.filter(({ isTest }) => !isTest).map(({ pair }) => pair);
  const tested = pairs.find(({ isTest }) => isTest)?.pair ?? trained.at(-1) ?? [row, column];
  return { trained, tested };
}

/**
 * Each name is trained in some pair. Two names and two keep the pair of the last ones. Where row or column has one name
 * only, each cell keeps another of the other's names.
 */
function keptOf(rows: number, columns: number, cell: string): (row: number, column: number) => boolean {
  const turn = Array.from(cell, (letter) => letter.codePointAt(0) ?? 0).reduce((sum, code) => sum + code, 0);
  if (rows === 2 && columns === 2) return (row, column) => row === 1 && column === 1;
  if (rows > 1 && columns > 1) return (row, column) => row > 0 && column > 0 && (row + column) % 2 === 1;
  if (rows > 2) return (row) => row === 1 + (turn % (rows - 1));
  if (columns > 2) return (_, column) => column === 1 + (turn % (columns - 1));
  return () => false;
}

function ofCell(told: Crossing, kind: SpanKind): Wordings {
  const { measure, row, column } = told;
  const { trained, tested } = pairsOf(told);
  const at = (index: number): Pair => trained[index % trained.length] ?? [row, column];
  // People write no capital where the cell has one: "a return for an adult".
  const one = oneOfRow(told);
  const isWhen = isPeriod(column);
  const both = [
    ...(measure === null || isWhen
      ? []
      : [`What is the ${column} ${measure} of ${one}?`, `What is the ${measure} of ${row} for ${column}?`]),
    ...(isWhen ? [] : [`What is the ${column} for ${one}?`]),
  ];
  const restated = `What is the ${column} ${measure === null ? '' : `${measure} `}for ${row}?`;
  if (kind === 'money')
    return { restated, asked: [...both, ...pricesOf(told, at)], test: priceTest(tested, isPeriod(column)) };
  // A time of another column may be how long something takes.
  if (kind === 'time' && isEvent(column)) {
    const names = [...new Set([row, ...rowsOf(told)])];
    const when = momentTemplates(column, told.noun).flatMap((template) =>
      names.map((name) => template.replace('KEY', () => column).replace('{X}', () => name)),
    );
    return { restated, asked: [`What is the ${column} of ${row}?`, ...when] };
  }
  const named = trained.map(([rowName, columnName]) => `What does ${rowName} have for ${columnName}?`);
  return { restated, asked: [...both, `What is the ${column} of ${row}?`, ...named] };
}

/** "an adult" of the row "Adult", unless another row is called so. */
function oneOfRow({ row, others }: Crossing): string {
  const those = others.rows.filter((other) => other !== row);
  return unshared([oneOf(row), row], those.map(oneOf))[0] ?? row;
}

/** A wording in which nothing is trained. */
function priceTest([row, column]: Pair, isWhen: boolean): string {
  return isWhen ? `In ${column}, what is charged for ${row}?` : `What is charged for ${column} for ${row}?`;
}

/** Each wording with another pair of names, so that all of them are trained in several. */
function pricesOf(told: Crossing, at: (index: number) => Pair): string[] {
  const { measure, row, column } = told;
  const one = oneOfRow(told);
  const bought = columnsOf(told).at(-1) ?? column;
  const ticket = /^(?:fare|ticket)$/u.test(measure ?? '') ? `${bought} ticket` : null;
  const ofTicket = [
    `How much is ${ticket} for ${one}?`,
    `What does ${one} pay for ${ticket}?`,
    `What does ${ticket} for ${one} cost?`,
  ];
  const wordings = priceWordings(told);
  const isPerson = one !== row;
  return [
    ...(ticket === null ? [] : ofTicket),
    ...(isPerson ? [`What does ${one} pay for ${bought}?`] : []),
    // Two rounds, so that each wording has two pairs.
    ...wordings.map((wording, index) => wording(...at(index))),
    ...wordings.map((wording, index) => wording(...at(index + secondRound))),
  ];
}

/** By how many pairs the second round is ahead: no multiple of the usual numbers of pairs. */
const secondRound = 7;

type PriceWording = (row: string, column: string) => string;

function priceWordings(told: Crossing): PriceWording[] {
  if (isPeriod(told.column)) return periodWordings;
  // Nobody pays for a return "in an adult".
  const ofPlace = (wording: PriceWording): PriceWording[] => (isPlace(told) ? [wording] : []);
  return [
    (name, what) => `How much is ${what} for ${name}?`,
    (name, what) => `What do I pay for ${name} for ${what}?`,
    (name, what) => `How much does ${what} cost for ${name}?`,
    (name, what) => `What does ${name} cost for ${what}?`,
    (name, what) => `How much do I pay for ${name}, ${what}?`,
    ...ofPlace((name, what) => `${capitalised(what)} with ${name}, how much is that?`),
    (name, what) => `How much is ${name} for ${what}?`,
    (name, what) => `For ${what}, what does ${name} cost?`,
    ...ofPlace((name, what) => `What is the price of ${what} in ${name}?`),
    (name, what) => `How much does ${name} cost, ${what}?`,
    ...ofPlace((name, what) => `What does ${what} cost in ${name}?`),
    (name) => `How much is the ${told.column} ${told.measure ?? 'price'} for ${name}?`,
  ];
}

const periodWordings: PriceWording[] = [
  (name, when) => `How much is ${name} in ${when}?`,
  (name, when) => `What does ${name} cost in ${when}?`,
  (name, when) => `How much do I pay for ${name} in ${when}?`,
  (name, when) => `What is the price of ${name} in ${when}?`,
  (name, when) => `In ${when}, how much does ${name} cost?`,
  (name, when) => `How much does ${name} cost in ${when}?`,
  (name, when) => `What do I pay in ${when} for ${name}?`,
  (name, when) => `${capitalised(when)}, ${name}: how much is it?`,
];

const place =
  /\b(?:park|lot|garage|zone|area|room|hall|cabin|hut|cottage|chalet|apartment|suite|dormitory|tent|pitch|site|campsite|hotel|hostel|building|section|storage|locker|marina|harbour|berth)s?\b/iu;

/** Whether rows are places, as what they are or their names say. */
function isPlace({ row, noun }: Crossing): boolean {
  return place.test(noun ?? row);
}
