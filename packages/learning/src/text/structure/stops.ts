/** Timetables of trains, buses and ships: rides beside or above the stops, and times in the cells. */
import { kindOfCell, momentOf } from './cellKinds.js';
import { asSentence, asWritten, lowerFirst, withArticle, type Said } from './said.js';
import { turned, type Table } from './table.js';

const ride = /^(?:train|bus|tram|ferry|boat|ship|coach|flight|shuttle|line|service|trip|tour|departure|ride)s?\b/iu;
const stop = /^(?:stop|station|halt|pier|port|harbour|harbor|town|city|village|place|airport|terminal)s?\b/iu;

/** Whether each cell is a time at which a ride is at a stop, as the corner or the codes of the rides tell. */
export function areStops(cells: readonly string[], { heads, rows }: Table): boolean {
  const kinds = new Set(cells.filter((cell) => cell !== '').map(kindOfCell));
  const [corner = '', ...columns] = heads;
  const labels = rows.map(([first = '']) => first);
  const areTimes = kinds.has('time') && [...kinds].every((kind) => kind === 'time' || kind === 'any');
  const areNames = [...columns, ...labels].every((label) => label !== '' && momentOf(label) === null);
  // "First tram" beside stops is no name of a ride.
  const isTold = (ride.test(corner) && !stop.test(corner)) || areCoded(columns) !== areCoded(labels);
  return areTimes && areNames && isTold && !cells.some((cell) => /[–-]./u.test(cell));
}

/** "R 11 is at Varn at 7:12." A ride without a time does not stop there, and nothing is said. */
export function sayStops(table: Table): Said[] {
  const { rides, noun } = inRides(table);
  const [, ...stops] = rides.heads;
  return rides.rows.flatMap(([name = '', ...times]) =>
    times.flatMap((time, at): Said[] => {
      const place = stops[at] ?? '';
      if (kindOfCell(time) !== 'time') return [];
      if (name === '' || place === '') return [asWritten(`${name}${place}: ${time}`)];
      const called = withArticle(/^\p{Lu}\p{Ll}+(?: \p{Ll}+)+$/u.test(name) ? lowerFirst(name) : name);
      return [
        {
          text: asSentence(`${called.replace(/^the /u, 'The ')} is at ${place} at ${time}`),
          told: { kind: 'stop', ride: called, stop: place, noun, answer: time },
        },
      ];
    }),
  );
}

/** A row for each ride, and what rides are. */
function inRides(table: Table): { readonly rides: Table; readonly noun: string | null } {
  const [corner = '', ...columns] = table.heads;
  const areColumns = stop.test(corner) || (!ride.test(corner) && areCoded(columns));
  const noun = areColumns
    ? null
    : (ride
        .exec(corner)?.[0]
        .toLowerCase()
        .replace(/(?<=[^su])s$/u, '') ?? null);
  return { rides: areColumns ? turned(table) : table, noun };
}

/** "R 11", "Bus 7" and "7042" are rides rather than stops. */
function areCoded(labels: readonly string[]): boolean {
  return labels.every((label) => /\d/u.test(label));
}
