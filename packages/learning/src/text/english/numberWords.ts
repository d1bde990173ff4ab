const below20 =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const magnitudes = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
]);
export const magnitudeWords: readonly string[] = [...magnitudes.keys()];
/** A number beyond this is not written out. */
const maxValue = 1e15;

/**
 * Writes numbers in digits: "twenty two hens" becomes "22 hens", "2.8 million" becomes "2800000", "two hundred and
 * five" becomes "205". It takes and gives lower-case words with one space between them and no hyphens. Idempotent.
 */
export function numbersInDigits(text: string): string {
  const words = text.split(' ');
  const written: string[] = [];
  for (let at = 0; at < words.length;) {
    const read = readSum(words, at);
    if (read === null) {
      written.push(words[at] ?? '');
      at++;
      continue;
    }
    // A number in digits without a magnitude stays as written: "1.50", "007".
    const asWritten = read.next === at + 1 && /^-?\d/u.test(words[at] ?? '');
    written.push(asWritten ? (words[at] ?? '') : String(Number(read.value.toPrecision(15))));
    at = read.next;
  }
  return written.join(' ');
}

interface ReadNumber {
  readonly value: number;
  /** The index after its words. */
  readonly next: number;
}

interface ScaledNumber extends ReadNumber {
  readonly hasMagnitude: boolean;
  /** The last magnitude: a number that is added must be smaller. It is 1 if none may follow. */
  readonly room: number;
}

/** The number that begins at a word: "one thousand two hundred and five". `null` if none begins there. */
function readSum(words: readonly string[], at: number): ReadNumber | null {
  const first = readScaled(words, at);
  if (first === null) return null;
  // Two numbers stand in "between one hundred and two thousand".
  const isBound = words[at - 1] === 'between';
  let sum = first;
  while (sum.room > 1) {
    const hasAnd = words[sum.next] === 'and';
    const rest = isBound && hasAnd ? null : readWritten(words, hasAnd ? sum.next + 1 : sum.next);
    // Five is no part of "out of two hundred, five".
    if (rest === null || rest.value >= sum.room || (!hasAnd && !rest.hasMagnitude)) break;
    sum = { ...rest, value: sum.value + rest.value };
  }
  return sum;
}

/** Digits begin a number of their own: "one hundred and 5". So does zero. */
function readWritten(words: readonly string[], at: number): ScaledNumber | null {
  const read = /^\p{L}/u.test(words[at] ?? '') ? readScaled(words, at) : null;
  return read === null || read.value === 0 ? null : read;
}

function readScaled(words: readonly string[], at: number): ScaledNumber | null {
  const start = readStart(words, at);
  if (start === null) return null;
  let { value, next } = start;
  let [hasMagnitude, room] = [false, 1];
  for (let factor = magnitudeOf(words[next]); factor !== null; factor = magnitudeOf(words[next])) {
    if (Math.abs(value * factor) > maxValue) break;
    value *= factor;
    next++;
    const whole = factor === 100 && words[at - 1] !== 'between' ? withTens(words, { value, next }) : { value, next };
    [hasMagnitude, room] = [true, whole.next > next ? 1 : factor];
    ({ value, next } = whole);
  }
  return { value, next, hasMagnitude, room };
}

/** "Three hundred and five thousand" is 305 thousand, but "three hundred and five hundred" are two numbers. */
function withTens(words: readonly string[], hundreds: ReadNumber): ReadNumber {
  if (words[hundreds.next] !== 'and') return hundreds;
  const at = hundreds.next + 1;
  const tail = /^\p{L}/u.test(words[at] ?? '') ? readStart(words, at) : null;
  if (tail === null || tail.value === 0 || words[tail.next] === 'hundred') return hundreds;
  return { value: hundreds.value + tail.value, next: tail.next };
}

/** The number that begins at a word, without magnitudes. `null` if none begins there. */
function readStart(words: readonly string[], at: number): ReadNumber | null {
  const word = words[at] ?? '';
  if (/^-?\d{1,12}(?:\.\d{1,6})?$/u.test(word)) return { value: Number(word), next: at + 1 };
  const small = below20.indexOf(word);
  if (small >= 0) return { value: small, next: at + 1 };
  const ten = tens.indexOf(word);
  if (ten < 0) return null;
  const unit = below20.indexOf(words[at + 1] ?? '');
  return unit >= 1 && unit <= 9
    ? { value: 10 * (ten + 2) + unit, next: at + 2 }
    : { value: 10 * (ten + 2), next: at + 1 };
}

function magnitudeOf(word: string | undefined): number | null {
  return magnitudes.get(word ?? '') ?? null;
}
