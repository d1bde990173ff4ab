/**
 * Whether an answer says that the answer is not known, in English, the language of the measured questions. A value that
 * follows ("I do not know, but probably Vienna") still counts as declining.
 */
export function declines(given: string): boolean {
  return given.trim() === '' || declining.test(given.replace(/’/gu, "'"));
}

const declining = new RegExp(
  [
    String.raw`\bI (?:(?:do|can|could) not|cannot|(?:do|could)n't|can't) (?:know|say|tell|answer|have)\b`,
    String.raw`\b(?:text|passage|it) (?:does|did)(?: not|n't) (?:say|tell|state|mention|specify)\b`,
    String.raw`\bI(?: am|'m) (?:not sure|not aware|unable)\b|\bI have no (?:information|idea)\b`,
    String.raw`\b(?:is|are|was|were)(?: not|n't) (?:known|stated|mentioned|specified)\b`,
    String.raw`\b(?:unknown|unclear|not known)\W*$`,
  ].join('|'),
  'iu',
);
