/** Ages said by a number alone: "left school at thirteen", "at the age of 52". */
import { numbersInDigits } from '@engraft/learning/parts';

/** Whether `number` after `before` can only be an age. */
export function isAge(number: string, before: string): boolean {
  return /\b(?:aged|ages? of|turned)\s*$/u.test(before) && isYears(number);
}

/** Whether it may be an age. It may also be an hour, or a place in a table. */
export function mayBeAge(number: string, before: string): boolean {
  return /\b(?:at|aged|ages? of|turned)\s*$/u.test(before) && isYears(number);
}

function isYears(number: string): boolean {
  return /^[1-9]\d?$/u.test(numbersInDigits(number.toLowerCase().replaceAll('-', ' ')));
}
