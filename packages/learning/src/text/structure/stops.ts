/** Timetables of trains, buses and ships: rides beside or above the stops, and times in the cells. */
import { isStopNoun, namesEvent, rideWord } from '../english/eventWords.js';
import { kindOfCell, momentOf } from './cellKinds.js';
import { asSentence, lowerFirst, withArticle, type Said } from './said.js';
import { turned, type Table } from './table.js';

/** A row for each ride, a column for each stop, and what rides are. */
export interface Timetable {
  readonly rides: Table;
  readonly noun: string | null;
}

const rideNoun = new RegExp(`^(?:${rideWord}|line)(?:e?s)?\\b`, 'iu');
const rideInText = new RegExp(`\\b(?:${rideWord})(?:e?s)?\\b`, 'iu');
const stopInText = /\b(?:stop|station|halt|pier|harbour|harbor|airport)s?\b/iu;
/** "Travel times" are how long rides take. */
const durations = /\b(?:travel|journey|travelling|driving|walking|running|lap|race|duration)\b/iu;

/**
 * `null` unless the corner or caption says that the table is of rides, and each cell is a time at which a ride is at a
 * stop. Such times ascend along a ride.
 */
export function timetableIn(table: Table, caption: string): Timetable | null {
  const [corner = '', ...columns] = table.heads;
  const labels = table.rows.map(([first = '']) => first);
  const areNames = [...columns, ...labels].every((label) => label !== '' && momentOf(label) === null);
  const areDistinct = [columns, labels].every((all) => new Set(all).size === all.length);
  const way = areNames && areDistinct && !durations.test(caption) ? wayOf(corner, columns, labels, caption) : null;
  if (way === null) return null;
  const rides = way === 'columns' ? turned(table) : table;
  const [, ...stops] = rides.heads;
  // A number names a ride, "Lap 1" is no place, and nor is "Departure".
  const areStops = stops.every((stop) => !namesEvent(stop) && (isStopNoun(stop) || !/\d/u.test(stop)));
  const times = rides.rows.map((row) => row.slice(1));
  if (!areStops || !times.some((row) => row.filter(isTime).length > 1) || !times.every(areAscending)) return null;
  const noun = way === 'columns' ? undefined : rideNoun.exec(corner)?.[0].toLowerCase();
  return { rides, noun: noun?.replace(/(?<=bus)es$|(?<=[^su])s$/u, '') ?? null };
}

/** Whether rides are rows or columns, as the corner tells, or else the caption and the codes of the rides. */
function wayOf(
  corner: string,
  columns: readonly string[],
  labels: readonly string[],
  caption: string,
): 'rows' | 'columns' | null {
  const [across, down] = [columns.every(isRide), labels.every(isRide)];
  if (isStopNoun(corner) || /^(?:city|town|village|place)$/iu.test(corner)) return across && !down ? 'columns' : null;
  if (rideNoun.test(corner)) return across && !down ? null : 'rows';
  const isTold = rideInText.test(caption) || stopInText.test(caption);
  if (!isTold || !/^(?:|route|no\.?|number|times?)$/iu.test(corner) || across === down) return null;
  return across ? 'columns' : 'rows';
}

/** "R 11", "7042" and "Bus 7" are rides; "Lap 1" and "the first bus" are not, or not always the same one. */
function isRide(label: string): boolean {
  const isCode = /^(?:\p{Lu}{1,4}[ -]?)?\d{1,5}\p{L}?$/u.test(label);
  return isCode || (/\d/u.test(label) && rideInText.test(label) && !namesEvent(label));
}

const clock = /^(?!0[:.])(\d{1,2})(?::(\d{2}))?(?: ?([ap])\.?m\.?)?$/iu;

function isTime(cell: string): boolean {
  return minutesOf(cell) !== null;
}

/** Minutes after midnight. `null` for "3.20", which is no time without "am" or "pm", and for words. */
function minutesOf(cell: string): number | null {
  const [, hour, minute, half] = clock.exec(cell) ?? [];
  if (hour === undefined || (minute === undefined && half === undefined)) return null;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return hours < 24 && Number(minute ?? 0) < 60 ? 60 * hours + Number(minute ?? 0) : null;
}

/** Whether each cell is a time or says that there is none. A ride may go on past midnight. */
function areAscending(cells: readonly string[]): boolean {
  if (!cells.every((cell) => isTime(cell) || kindOfCell(cell) === 'any')) return false;
  const times = cells.flatMap((cell) => minutesOf(cell) ?? []);
  return times.every((time, at) => {
    const since = (time - (times[at - 1] ?? time - 1) + 24 * 60) % (24 * 60);
    return since > 0 && since < 12 * 60;
  });
}

/** "R 11 is at Varn at 7:12." A ride without a time does not stop there, and nothing is said. */
export function sayStops({ rides, noun }: Timetable): Said[] {
  const [, ...stops] = rides.heads;
  return rides.rows.flatMap(([name = '', ...times]) => {
    const called = withArticle(/^\p{Lu}\p{Ll}+(?: \p{Ll}+)+$/u.test(name) ? lowerFirst(name) : name);
    const [first, last] = [times.findIndex(isTime), times.findLastIndex(isTime)];
    return times.flatMap((time, at): Said[] => {
      const stop = stops[at] ?? '';
      if (!isTime(time)) return [];
      const ends = { isOrigin: at === first, isTerminus: at === last };
      return [
        {
          text: asSentence(`${called.replace(/^the /u, 'The ')} is at ${stop} at ${time}`),
          told: { kind: 'stop', ride: called, stop, ...ends, noun, answer: time },
        },
      ];
    });
  });
}
