/** How old somebody was, said by a number alone: "left school at thirteen", "at the age of 52". */
import { numbersInDigits } from './numberWords.js';

/** Hours are smaller: "begins at nine" tells the time. */
const latestHour = 12;

/** Whether `number`, which `before` stands before, says nothing else than an age. */
export function isAge(number: string, before: string): boolean {
  const years = yearsOf(number);
  if (years === null) return false;
  return /\b(?:aged|ages? of|turned)\s*$/u.test(before) || (/\bat\s*$/u.test(before) && years > latestHour);
}

/** Or an hour, perhaps. */
export function mayBeAge(number: string, before: string): boolean {
  return isAge(number, before) || (/\bat\s*$/u.test(before) && yearsOf(number) !== null);
}

function yearsOf(number: string): number | null {
  const digits = numbersInDigits(number.toLowerCase().replaceAll('-', ' '));
  return /^[1-9]\d?$/u.test(digits) ? Number(digits) : null;
}
