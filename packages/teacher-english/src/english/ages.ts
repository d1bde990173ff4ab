/** How old somebody was, said by a number alone: "left school at thirteen", "at the age of 52". */
import { numbersInDigits } from '@engraft/learning/parts';

/** Whether `number`, which `before` stands before, says nothing else than an age. */
export function isAge(number: string, before: string): boolean {
  return /\b(?:aged|ages? of|turned)\s*$/u.test(before) && isYears(number);
}

/** Or an hour, or a place in a table, perhaps. */
export function mayBeAge(number: string, before: string): boolean {
  return /\b(?:at|aged|ages? of|turned)\s*$/u.test(before) && isYears(number);
}

function isYears(number: string): boolean {
  return /^[1-9]\d?$/u.test(numbersInDigits(number.toLowerCase().replaceAll('-', ' ')));
}
