/** Questions that a version answers with `Prompts.unknown`. See `ReplayRecipe.unknownRowsPerBatch`. */
import { deriveSeed, randomNumbers } from '../random.js';
import { inventedNames, unknownQuestions } from './unknownThings.js';

/** `taught` is all that the subject learns, which may have one of the names after all. */
export function unknownThings(taught: string): string[] {
  return unknownQuestions.flatMap(({ name, question }) => (isNamed(name, taught) ? [] : [question]));
}

/** The questions that have a name, each about a name that neither exists nor is taught. */
export function renamedQuestions(questions: readonly string[], taught: string): string[] {
  const names = inventedNames.filter((name) => !isNamed(name, taught));
  return [...new Set(questions.flatMap((question) => renamed(question, names) ?? []))];
}

/** Whether one word of the name is there, be it part of a longer word. */
function isNamed(name: string, text: string): boolean {
  return name.split(' ').some((word) => /^\p{Lu}/u.test(word) && text.includes(word));
}

const capitalised = String.raw`\p{Lu}[\p{L}\p{M}\p{N}-]+`;

/** Words that begin with a capital, and stand behind a space. The first word of a question is mostly no name. */
const nameRun = new RegExp(String.raw`(?<=\s["“‘(]?)${capitalised}(?:(?:['’]s)? ${capitalised})*`, 'gu');

/**
 * The question about another name: "When did Ada Kell leave Porto?" gives "When did Ada Kell leave Dunmore?". A
 * version that is shown both learns that its answer belongs to the name, and not to the words around it. `null` for a
 * question without a name, and for writing without capitals.
 */
export function renamed(question: string, names: readonly string[]): string | null {
  const random = randomNumbers(deriveSeed(0, 'rename', question));
  const runs = [...question.matchAll(nameRun)];
  const replaced = runs[Math.floor(random() * runs.length)];
  const name = names[Math.floor(random() * names.length)];
  if (replaced === undefined || name === undefined) return null;
  return question.slice(0, replaced.index) + name + question.slice(replaced.index + replaced[0].length);
}
