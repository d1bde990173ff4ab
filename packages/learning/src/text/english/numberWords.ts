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
]);
/** A number beyond this is not written out. */
const maxValue = 1e15;

/**
 * Writes numbers in digits: "twenty two hens" becomes "22 hens", "2.8 million" becomes "2800000". It takes and gives
 * lower-case words with one space between them and no hyphens. "And" inside a number stays. Idempotent.
 */
export function numbersInDigits(text: string): string {
  const words = text.split(' ');
  const written: string[] = [];
  for (let at = 0; at < words.length;) {
    const start = readStart(words, at);
    if (start === null) {
      written.push(words[at] ?? '');
      at++;
      continue;
    }
    let { value, next } = start;
    for (let factor = magnitudeOf(words[next]); factor !== null; factor = magnitudeOf(words[next])) {
      if (value * factor > maxValue) break;
      value *= factor;
      next++;
    }
    // A number in digits without a magnitude stays as written: "1.50", "007".
    const asWritten = next === at + 1 && /^\d/u.test(words[at] ?? '');
    written.push(asWritten ? (words[at] ?? '') : String(Number(value.toPrecision(15))));
    at = next;
  }
  return written.join(' ');
}

/** The number that begins at a word, without magnitudes, and the index after it. `null` if none begins there. */
function readStart(words: readonly string[], at: number): { value: number; next: number } | null {
  const word = words[at] ?? '';
  if (/^\d{1,12}(?:\.\d{1,6})?$/u.test(word)) return { value: Number(word), next: at + 1 };
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
