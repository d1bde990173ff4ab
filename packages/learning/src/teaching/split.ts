import { isOnlyTrained, type Fact, type Form } from '../facts.js';
import { fingerprints } from './overlap.js';
import { deriveSeed, randomNumbers, shuffled, spreadSample } from '../random.js';
import type { SplitRecipe } from '../recipe/recipe.js';

/** A fact's questions by their use. */
export interface SplitFact {
  readonly answer: string;
  readonly training: readonly Form[];
  readonly dev: readonly Form[];
  readonly validation: readonly Form[];
}

interface Assignment {
  readonly fact: number;
  readonly form: Form;
  /** Index among the fact's forms. */
  readonly position: number;
  /** See `fingerprints`. */
  readonly keys: readonly string[];
  use: 'training' | 'dev' | 'validation';
}

/**
 * Chooses the questions to hold out.
 *
 * Validation gets one whole phrasing of every fact that has at least two questions. It gets more if there are too few
 * facts for `minValidationPairs`, but never more than half. Early stopping gets another phrasing of some facts with
 * five or more. The plainest question of a fact is always trained, and so are the questions that the teacher could not
 * answer and those made of the sentence's own words.
 *
 * Validation is clean: none of its questions equals another question after normalisation, or shares a run of
 * `overlapTokens` word tokens with a question that is trained or steers the training. A question that does goes to
 * training.
 */
export function splitFacts(facts: readonly Fact[], seed: number, recipe: SplitRecipe): SplitFact[] {
  const random = randomNumbers(deriveSeed(seed, 'split'));
  const assignments = facts.flatMap((fact, index) =>
    fact.forms.map((form, position): Assignment => {
      return { fact: index, form, position, keys: fingerprints(form.question, recipe.overlapTokens), use: 'training' };
    }),
  );
  const questions = facts.map((_, index) =>
    shuffled(
      assignments.filter(({ fact, form }) => fact === index && !isOnlyTrained(form)),
      random,
    ),
  );
  const overlaps = overlapCounts(assignments);
  const testable = questions.map(testableOf).filter(({ others }) => others.length > 0);
  const perFact = Math.ceil(recipe.minValidationPairs / Math.max(1, testable.length));
  const heldOut = testable.flatMap(({ others, most }) => {
    const count = Math.min(perFact, most);
    const cost = (assignment: Assignment): number => overlaps.get(assignment) ?? 0;
    return others.sort((a, b) => a.form.testRank - b.form.testRank || cost(a) - cost(b)).slice(0, count);
  });
  for (const assignment of spreadSample(heldOut, recipe.maxValidationPairs)) assignment.use = 'validation';
  const rich = questions.filter((ofFact) => ofFact.length >= 5);
  const watched = rich.length >= recipe.minDevPairs ? spreadSample(rich, recipe.maxDevPairs) : [];
  for (const ofFact of watched) {
    const spare = ofFact.findLast((assignment) => assignment.use === 'training' && assignment !== plainestOf(ofFact));
    if (spare !== undefined) spare.use = 'dev';
  }
  returnOverlapping(assignments);
  return facts.map((fact, index) => {
    const used = (use: Assignment['use']): Form[] =>
      assignments.filter((assignment) => assignment.fact === index && assignment.use === use).map(({ form }) => form);
    return { answer: fact.answer, training: used('training'), dev: used('dev'), validation: used('validation') };
  });
}

/** A fact's questions that may be held out, and how many of them at most. */
function testableOf(ofFact: readonly Assignment[]): { readonly others: Assignment[]; readonly most: number } {
  const plainest = plainestOf(ofFact);
  const others = ofFact.filter((assignment) => assignment !== plainest && assignment.form.unanswered !== true);
  return { others, most: Math.floor(ofFact.length / 2) };
}

/** The question closest to the passage's own words, else the teacher's first. */
function plainestOf(ofFact: readonly Assignment[]): Assignment | undefined {
  return [...ofFact].sort((a, b) => a.form.plainRank - b.form.plainRank || a.position - b.position)[0];
}

/** For each question, the largest number of other questions that share the same run of tokens with it. */
function overlapCounts(assignments: readonly Assignment[]): Map<Assignment, number> {
  const holders = new Map<string, number>();
  for (const key of assignments.flatMap(({ keys }) => keys)) holders.set(key, (holders.get(key) ?? 0) + 1);
  return new Map(
    assignments.map((assignment) => {
      const shared = assignment.keys.map((key) => (holders.get(key) ?? 1) - 1);
      return [assignment, Math.max(0, ...shared)];
    }),
  );
}

/** Moves overlapping validation questions to training. That can make others overlap, so it repeats until none does. */
function returnOverlapping(assignments: readonly Assignment[]): void {
  for (;;) {
    const others = new Set(assignments.filter(({ use }) => use !== 'validation').flatMap(({ keys }) => keys));
    const overlapping = assignments.filter(
      ({ keys, use }) => use === 'validation' && keys.some((key) => others.has(key)),
    );
    if (overlapping.length === 0) return;
    for (const assignment of overlapping) assignment.use = 'training';
  }
}
