/** Repetition at the end of a text that goes round in circles until its limit cuts it. */

/** What is repeated less often, or is shorter in all, may be meant: a refrain, a list. */
const minRounds = 4;
const minLength = 120;

/**
 * The text up to the end of the first round, where it ends in many; `null` where it does not. Takes time in proportion
 * to its length (of a text backwards, the prefix function of Knuth, Morris and Pratt tells the period of every
 * beginning).
 */
export function beforeRunaway(text: string): string | null {
  const reversed = text.split('').reverse();
  const borders: number[] = [0];
  let [length, period] = [0, 0];
  for (let at = 1; at < reversed.length; at += 1) {
    let border = borders[at - 1] ?? 0;
    while (border > 0 && reversed[at] !== reversed[border]) border = borders[border - 1] ?? 0;
    if (reversed[at] === reversed[border]) border += 1;
    borders.push(border);
    const [covered, round] = [at + 1, at + 1 - border];
    if (covered >= minLength && covered >= minRounds * round) [length, period] = [covered, round];
  }
  return length === 0 ? null : text.slice(0, text.length - length + period).replace(/[\uD800-\uDBFF]$/, '');
}
