import type { MeteredCalls } from '../budget/calls.js';
import type { Fact } from '../facts.js';
import type { TaughtPassage, Teacher } from '../teaching/teacher.js';

/** Whether what the first teacher has confirmed is enough for the passage. */
export type IsEnough = (calls: MeteredCalls, passage: TaughtPassage, confirmed: readonly Fact[]) => Promise<boolean>;

/**
 * Two teachers of one passage, who each confirm what they asked themselves. `first` decides whether the passage
 * means anything: if it confirms nothing, nothing is taught. `second` is asked where that is not enough.
 */
export function joinedTeacher(first: Teacher, second: Teacher, isEnough: IsEnough): Teacher {
  const isOfSecond = ({ teacher }: Pick<Fact, 'teacher'>): boolean => teacher === second.name;
  return {
    name: `${first.name} and ${second.name}`,

    async measure(passage) {
      const [one, other] = [await first.measure(passage), await second.measure(passage)];
      const factCount = one.factCount + other.factCount;
      const extraReads = one.factCount * one.extraReads + other.factCount * other.extraReads;
      return { factCount, extraReads: extraReads / Math.max(1, factCount) };
    },

    async teach(calls, passage, plan, seed) {
      const one = await first.teach(calls, passage, plan, seed);
      if (one?.understood !== true) return one;
      const confirmed = await first.confirm(calls, passage, one.facts);
      const facts = confirmed.map((fact) => ({ ...fact, teacher: first.name, confirmed: true }));
      // A small model also asks about what means nothing, and finds its answers there.
      if (facts.length === 0 || (await isEnough(calls, passage, facts))) return { ...one, facts };
      const left = plan.factCount - facts.length;
      const other = left > 0 ? await second.teach(calls, passage, { ...plan, factCount: left }, seed) : null;
      const ofSecond = (other?.facts ?? []).map((fact) => ({ ...fact, teacher: second.name }));
      return { ...one, facts: [...facts, ...ofSecond], asked_well: false };
    },

    async confirm(calls, passage, facts) {
      const ofFirst = facts.filter((fact) => !isOfSecond(fact));
      // An earlier release left that to this phase.
      const open = ofFirst.filter(({ confirmed }) => confirmed !== true);
      const done = ofFirst.filter(({ confirmed }) => confirmed === true);
      const one = open.length === 0 ? done : [...done, ...(await first.confirm(calls, passage, open))];
      if (one.length === 0) return [];
      const ofSecond = facts.filter(isOfSecond);
      const other = ofSecond.length === 0 ? [] : await second.confirm(calls, passage, ofSecond);
      // A fact that both found is scored by the question that comes first, so it is one of the reader's own.
      return [...other, ...one];
    },

    reading: (passage, fact, question) => (isOfSecond(fact) ? second : first).reading(passage, fact, question),

    ...(second.askAbout === undefined ? {} : { askAbout: second.askAbout.bind(second) }),
    ...(first.rephrase === undefined ? {} : { rephrase: first.rephrase.bind(first) }),
  };
}
