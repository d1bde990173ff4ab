/**
 * Whether an answer says that the answer is not known, rather than naming one: in English, which is what is measured
 * in. A value that follows ("I do not know, but probably Vienna") still counts as declining.
 */
export function declines(given: string): boolean {
  return given.trim() === '' || declining.test(given.replace(/’/gu, "'"));
}

const declining = new RegExp(
  [
    String.raw`\b(?:do|does|did|can|could|would)(?: not|n't) (?:know|say|tell|state|mention|specify|have|provide|answer)\b`,
    String.raw`\b(?:cannot|unable to) (?:know|say|tell|answer|provide)\b`,
    String.raw`\b(?:not|n't|no longer|never) (?:known|stated|mentioned|specified|given|provided|clear|sure|aware)\b`,
    String.raw`\bno (?:information|idea|answer|record)\b`,
    String.raw`\bunknown\b|\bunclear\b`,
  ].join('|'),
  'iu',
);
