/** Months whose names are no English ones. */
const german = new Set('Januar Jänner Februar März Mai Juni Juli Oktober Dezember'.split(' '));
const shared = new Set('April August September November'.split(' '));

/** Whether a text begins with a month in German, which writes the days before it as ordinals: "3. Mai". */
export function opensWithGermanMonth(text: string): boolean {
  return opensWithMonthOfGermanAlone(text) || shared.has(firstWord(text));
}

/** Whether it does, and the month is none in English. */
export function opensWithMonthOfGermanAlone(text: string): boolean {
  return german.has(firstWord(text));
}

function firstWord(text: string): string {
  return /^\p{L}+/u.exec(text)?.[0] ?? '';
}
