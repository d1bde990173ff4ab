/** Opening hours in a list: "Saturday: 8:00 - 20:00" below "What are the opening hours?". */
import { kindOfCell, momentOf } from './cellKinds.js';
import { asSentence, type Said } from './said.js';

const measures =
  /\b((?:opening|office|business|visiting|reception|kitchen|service) (?:hours|times)|hours)\b|\bopen\b/iu;

/** `null` if the item is no day with hours, or the line above speaks of no hours. */
export function hoursIn(text: string, caption: string): Said | null {
  const [, day = '', value = ''] = /^([^:\n]{3,40}): +([^\n]{3,40}?)\.?$/u.exec(text) ?? [];
  const [moment, measure] = [momentOf(day), measures.exec(caption)];
  const isClosed = /^closed$/iu.test(value);
  if (moment === null || measure === null || !(isClosed || kindOfCell(value) === 'time')) return null;
  const key = measure[1]?.toLowerCase() ?? 'opening hours';
  const answer = isClosed ? 'closed' : rangeInWords(value);
  const told = { kind: 'attribute', key, subject: '', noun: null, moment, answer } as const;
  const words = isClosed ? `On ${moment.replace(/^on /u, '')} it is closed` : `The ${key} ${moment} are ${answer}`;
  return { text: asSentence(words), told };
}

/** "from 9:00 to 17:00", which a reader takes as one value. */
export function rangeInWords(value: string): string {
  const [, from, to] =
    /^(\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?) ?[–-] ?(\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?)?)$/iu.exec(value) ?? [];
  return from === undefined || to === undefined ? value : `from ${from} to ${to}`;
}
