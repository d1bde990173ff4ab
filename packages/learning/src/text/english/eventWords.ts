/** Words for what happens at some time, and for what travels between stops. */

export const rideWord = 'train|bus|tram|ferry|boat|ship|coach|flight|shuttle';

const ride = `(?:${rideWord})`;
const arrival = 'departs?|departures?|dep|arrives?|arrivals?|arr|boarding';
const event =
  `${arrival}|opens?|opening|closes?|closing|starts?|begins?|ends?|check-?(?:in|out)|pick-?up|drop-?off|take-?off|` +
  'landing|kick-?off|doors|deadline|curfew|bedtime|breakfast|brunch|lunch|dinner|supper|sunrise|sunset|moonrise|' +
  'moonset|(?:high|low) (?:tide|water)';
const eventKey = new RegExp(`^(?:\\p{L}+ )?(?:${event}|${ride})$`, 'iu');

/**
 * Whether a time of such a key is when something happens: "departure", "first bus". A time of another key may be how
 * long something takes: "lap 1", "duration".
 */
export function isEvent(key: string): boolean {
  return eventKey.test(key);
}

const eventLabel = new RegExp(
  `^(?:${event}|return|meet|meeting|finish|break|gate|eta|etd|to|from|via)(?!\\p{L})|` +
    `\\b(?:${arrival}|first|last|next|inbound|outbound)\\b`,
  'iu',
);

/** Whether a label says what happens or which one is meant, and so is no name of a place or of a ride. */
export function namesEvent(label: string): boolean {
  return eventLabel.test(label);
}

const stopNoun = /^(?:stop|station|halt|pier|port|harbour|harbor|airport|terminal)s?\b/iu;

/** "stop", "station", and other places where rides stop. */
export function isStopNoun(noun: string): boolean {
  return stopNoun.test(noun);
}
