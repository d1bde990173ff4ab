import { isAttribute } from '../english/attributeWords.js';
import { isEvent } from '../english/eventWords.js';
import { isPersonName } from '../english/personNames.js';
import { capitalised } from '../strings.js';
import { commonKind, kindOfCell, momentOf } from './cellKinds.js';
import { rangeInWords } from './hours.js';
import { isAttributeHead, isValueHead, orientationOf } from './orientation.js';
import {
  asSentence,
  asWritten,
  copulaOf,
  isClock,
  lowerFirst,
  said,
  withArticle,
  type Said,
  type Told,
} from './said.js';
import { sayStops, timetableIn } from './stops.js';
import { turned, type Table } from './table.js';

/** Where a table stands: its subject, and the heading or line above it, which may say what its values are. */
export interface TablePlace {
  readonly subject: string | null;
  readonly caption: string;
}

/** Says each cell as a sentence, the way round that the table means it. */
export function sayTable(table: Table, { subject, caption }: TablePlace): Said[] {
  const orientation = orientationOf(table, isAttribute);
  switch (orientation.kind) {
    case 'things_in_rows':
      return sayRows(table, orientation.names);
    case 'things_in_columns':
      return sayRows(turned(table), [0]);
    case 'one_thing':
      return sayPairs(table, subject);
    case 'timetable':
      return sayTimetable(table, caption);
    case 'crossed':
      return sayCrossed(table, caption);
  }
}

function sayRows({ heads, rows }: Table, [name = 0, code]: readonly number[]): Said[] {
  const nouns = asNouns(rows.map((row) => row[name] ?? ''));
  const kind = nounIn(heads[name] ?? '');
  return rows.flatMap((row, index) => {
    const noun = nouns[index] ?? '';
    const subject = code === undefined ? noun : `${noun} ${row[code] ?? ''}`;
    const told = row.flatMap((value, at) => (value === '' || at === name ? [] : [{ key: heads[at] ?? '', value, at }]));
    if (told.length === 0) return subject === '' ? [] : [asWritten(subject)];
    return told.map(({ key, value, at }) => attributeOf(at === code ? noun : subject, key, value, kind));
  });
}

function attributeOf(subject: string, key: string, value: string, noun: string | null): Said {
  if (subject === '') return asWritten(key === '' ? value : `${key}: ${value}`);
  if (key === '') return asWritten(`${subject}: ${value}`);
  // "Every" above "20 min" tells how often. Other such words need a noun, which the table does not have.
  if (/^every$/iu.test(key)) return said('frequency', subject, `every ${value}`, noun);
  if (bareWord.test(key)) return asWritten(`${subject}: ${lowerFirst(key)} ${value}`);
  const moment = momentOf(subject);
  if (moment !== null) return onMoment(key, moment, value);
  const when = isMomentKey(key, subject) ? momentOf(value) : null;
  return when === null ? said(key, subject, value, noun) : isWhen(withArticle(subject), when, null);
}

/** The time of a person or of a lap is how long it took. */
function isMomentKey(key: string, subject: string): boolean {
  if (/^time$/iu.test(key)) return !isPersonName(subject) && !/\d/u.test(subject);
  return /^(?:when|day|date|start(?:s|ing time)?|begins?)$/iu.test(key);
}

const bareWord = /^(?:from|to|until|till|by|at|on|in|via|per|for|with|between|after|before)$/iu;

/** "room" above "Birch" and "Cedar". A head such as "Name" does not say what it names. */
function nounIn(head: string): string | null {
  const noun = /^\p{Lu}?\p{Ll}{2,}$/u.test(head) ? lowerFirst(head) : '';
  return noun === '' || /^(?:name|title|description|value)s?$/u.test(noun) || isAttributeHead(noun) ? null : noun;
}

/** "car park" above "P1 Terminal". */
function rowNounIn(corner: string): string | null {
  return /^\p{Lu}?\p{Ll}{2,} \p{Ll}{2,}$/u.test(corner) && !corner.endsWith('name')
    ? lowerFirst(corner)
    : nounIn(corner);
}

/** "The temperature in May is 14 °C." */
function onMoment(key: string, moment: string, value: string): Said {
  const name = lowerFirst(key);
  return {
    text: asSentence(`The ${name} ${moment} ${copulaOf(key)} ${value}`),
    told: { kind: 'attribute', key: name, subject: '', noun: null, moment, answer: value },
  };
}

function isWhen(subject: string, when: string, noun: string | null): Said {
  return {
    text: asSentence(`${capitalised(subject)} is ${when}`),
    told: { kind: 'moment', subject, noun, answer: when },
  };
}

/**
 * Names as they stand in a sentence. If most names are words with only the first capitalised ("Door handle", "Window
 * latch"), and the first words differ, the capital belongs to the cell and goes.
 */
function asNouns(names: readonly string[]): string[] {
  const isPhrase = (name: string): boolean => /^\p{Lu}\p{Ll}+ \p{Ll}[^\p{Lu}]*$/u.test(name);
  const firsts = new Set(names.map((name) => name.split(' ')[0]));
  const areWords = names.filter(isPhrase).length > names.length / 2 && firsts.size > names.length / 2;
  return areWords ? names.map(lowerFirst) : [...names];
}

/** Keys and values of the table's subject. If that is not known, they stay as they are. */
function sayPairs({ heads: [first = '', second = ''], rows }: Table, subject: string | null): Said[] {
  const isHead = second === '' || isValueHead(second);
  const pairs = isHead ? rows : [[first, second], ...rows];
  return pairs.flatMap(([key = '', value = '']) => {
    if (key === '' || value === '') return key + value === '' ? [] : [asWritten(key + value)];
    return [subject === null ? asWritten(`${key}: ${value}`) : said(key, subject, value)];
  });
}

/** "On Monday at 9:00 there is yoga.", and a sentence about when each thing is, which may be several times. */
function sayTimetable({ heads, rows }: Table, caption: string): Said[] {
  const noun = programme.exec(caption)?.[1]?.toLowerCase() ?? null;
  const entries = rows.flatMap(([row = '', ...cells]) =>
    cells.flatMap((what, at) => {
      return kindOfCell(what) === 'any' ? [] : [{ what, circumstances: circumstancesOf(row, heads[at + 1] ?? '') }];
    }),
  );
  const things = [...new Set(entries.map(({ what }) => what))];
  return [
    ...entries.map(({ what, circumstances }): Said => ({
      text: asSentence(`${capitalised(circumstances.join(' '))} there is ${what}`),
      told: { kind: 'event', circumstances, noun, answer: what },
    })),
    ...things.map((thing) => {
      const times = entries.filter(({ what }) => what === thing);
      const when = times.map(({ circumstances }) => circumstances.join(' ')).join(' and ');
      return isWhen(thing, when, noun);
    }),
  ];
}

const programme = /\b(\p{L}{3,}) (?:timetable|schedule|programme|program|plan|rota|calendar)\b/iu;

/** Puts the day before the time of day, and both before the place. */
function circumstancesOf(row: string, column: string): string[] {
  const rank = (moment: string | null): number => (moment === null ? 2 : moment.startsWith('on ') ? 0 : 1);
  return [row, column]
    .sort((a, b) => rank(momentOf(a)) - rank(momentOf(b)))
    .map((label) => momentOf(label) ?? `in ${withArticle(label)}`);
}

/** "The opening hours of the pool on Sunday are 9:00 – 14:00.", "The return fare for Adult is €26." */
function sayCrossed(table: Table, caption: string): Said[] {
  const [corner = ''] = table.heads;
  const areMomentsDown = table.rows.every(([first = '']) => momentOf(first) !== null);
  const { heads, rows } = areMomentsDown ? turned(table) : table;
  const values = rows.flatMap((row) => row.slice(1));
  const measure = measureOf(caption, corner, values);
  // Columns that became rows have no noun: the corner names the rows only.
  const noun = areMomentsDown ? null : rowNounIn(corner);
  const mayBeStops = measure === null || /^(?:departure|arrival|times)$/u.test(measure);
  const timetable = mayBeStops ? timetableIn({ heads, rows }, caption) : null;
  if (timetable !== null) return sayStops(timetable);
  const others = { rows: rows.map(([row = '']) => withArticle(row)), columns: heads.slice(1).map(lowerFirst) };
  return rows.flatMap(([row = '', ...cells]) => {
    // A row without values is a heading of those below it.
    if (cells.every((value) => value === '')) return [asWritten(row)];
    return cells.flatMap((value, at) => {
      const column = heads[at + 1] ?? '';
      if (value === '') return [];
      return [
        row === '' || column === ''
          ? asWritten(`${row}${column}: ${value}`)
          : crossing(row, column, value, { measure, noun, others }),
      ];
    });
  });
}

type Crossed = Pick<Extract<Told, { kind: 'crossing' }>, 'measure' | 'noun' | 'others'>;

function crossing(row: string, column: string, value: string, { measure, noun, others }: Crossed): Said {
  const moment = momentOf(column);
  const thing = withArticle(row);
  if (moment !== null && (measure === null || isAttribute(row))) return onMoment(row, moment, value);
  const name = lowerFirst(column);
  const told = { kind: 'crossing', measure, row: thing, column: name, noun, moment, others, answer: value } as const;
  const being = copulaOf(measure ?? column);
  if (moment !== null && measure !== null) {
    const answer = rangeInWords(value);
    const isClosed = /^closed$/iu.test(value);
    if (measure.startsWith('opening') && (isClosed || answer !== value)) {
      const state = isClosed ? `closed ${moment}` : `open ${moment} ${answer}`;
      return {
        text: asSentence(`${capitalised(thing)} is ${state}`),
        told: { ...told, answer: isClosed ? 'closed' : answer },
      };
    }
    return { text: asSentence(`The ${measure} of ${thing} ${moment} ${being} ${answer}`), told: { ...told, answer } };
  }
  if (measure === null) {
    // "For Ada the lap 1 is 1:02", which is no moment.
    const words = isTimeOfDay(value) && !isEvent(name) ? value : (momentOf(value) ?? value);
    const text = `For ${thing} the ${lowerFirst(column)} ${being} ${words}`;
    return { text: asSentence(text), told: { ...told, answer: words.endsWith(value) ? value : words } };
  }
  return { text: asSentence(`The ${lowerFirst(column)} ${measure} for ${thing} ${being} ${value}`), told };
}

/** A cell of a time, which may be how long something takes. */
function isTimeOfDay(value: string): boolean {
  return isClock(value) || kindOfCell(value) === 'time';
}

const measureWords =
  'opening hours|opening times|(?:office|business|visiting) hours|hours|departures?|arrivals?|times|prices?|fares?|' +
  'fees?|rates?|costs?|tariffs?|rents?|wages?|salar(?:y|ies)|temperatures?|scores?|points|distances?|sales|' +
  'population|votes|weights?|lengths?|capacity|turnover|revenue|rainfall';
const measures = new RegExp(`\\b(${measureWords})\\b`, 'iu');
const alwaysPlural = /(?:hours|times|points|sales|votes)$/u;

/** A word for the values of a table, from its caption or corner, else from their kind. */
function measureOf(caption: string, corner: string, cells: readonly string[]): string | null {
  const kind = commonKind(cells);
  const areRanges = kind === 'time' && cells.some((cell) => rangeInWords(cell) !== cell);
  const named = (measures.exec(corner) ?? measures.exec(caption))?.[1]?.toLowerCase();
  const fits = named !== undefined && (kind === 'time') === /hours|times|departure|arrival/u.test(named);
  if (fits) return alwaysPlural.test(named) ? named : named.replace(/ies$/u, 'y').replace(/s$/u, '');
  // "1.50–1.75" may be anything.
  const areHours = areRanges && cells.every((cell) => !/\d/u.test(cell) || /:|[ap]\.?m\b/iu.test(cell));
  return kind === 'money' ? 'price' : areHours ? 'hours' : null;
}
