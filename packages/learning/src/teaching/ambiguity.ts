/** One question, one answer: chooses what may be taught of the facts that a teacher confirmed. */
import { isTrusted, questionKey, type Fact, type Form } from '../facts.js';
import { normalise } from '../text/normalise.js';

/**
 * Merges facts of one sentence with the same answer, drops questions that two facts answer differently, and keeps one
 * of those that they answer alike. A form made of a sentence's words never speaks against a trusted question, and gives
 * way to it.
 */
export function withoutAmbiguity(confirmed: readonly Fact[]): Fact[] {
  const facts = mergeSame(confirmed);
  const asked = facts.flatMap(({ answer, forms }) => forms.map((form) => ({ form, answer: normalise(answer) })));
  const [trusted, others] = [asked.filter(({ form }) => isTrusted(form)), asked.filter(({ form }) => !isTrusted(form))];
  const kept = new Set([...onlyAnswers(trusted, new Set()), ...onlyAnswers(others, keysOf(trusted))]);
  return facts.map((fact) => ({ ...fact, forms: fact.forms.filter((form) => kept.has(form)) }));
}

function mergeSame(facts: readonly Fact[]): Fact[] {
  const merged = new Map<string, Fact>();
  for (const fact of facts) {
    const key = `${fact.sentenceStart} ${normalise(fact.answer)}`;
    const earlier = merged.get(key);
    merged.set(
      key,
      earlier === undefined
        ? fact
        : { ...earlier, salience: Math.max(earlier.salience, fact.salience), forms: [...earlier.forms, ...fact.forms] },
    );
  }
  return [...merged.values()];
}

interface AskedForm {
  readonly form: Form;
  readonly answer: string;
}

function keysOf(asked: readonly AskedForm[]): Set<string> {
  return new Set(asked.map(({ form }) => questionKey(form.question)));
}

/** The first form of every question that has one answer, without those in `taken`. */
function onlyAnswers(asked: readonly AskedForm[], taken: ReadonlySet<string>): Form[] {
  const byQuestion = new Map<string, AskedForm[]>();
  for (const each of asked) {
    const key = questionKey(each.form.question);
    byQuestion.set(key, [...(byQuestion.get(key) ?? []), each]);
  }
  return [...byQuestion].flatMap(([key, [first, ...rest]]) => {
    const isOne = first !== undefined && rest.every(({ answer }) => answer === first.answer);
    return isOne && !taken.has(key) ? [first.form] : [];
  });
}
