import type { Fact } from '../facts.js';
import type { TeachingOutcome } from '../outcomes.js';
import type { Teacher } from '../teaching/teacher.js';

/**
 * Two teachers of one passage, who each confirm what they asked themselves. `first` decides whether the passage
 * means anything: if it confirms nothing, nothing is taught. `second` reads the passage when facts are scored.
 */
export function joinedTeacher(first: Teacher, second: Teacher): Teacher {
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
      if (one?.understood === false) return one;
      const other = await second.teach(calls, passage, plan, seed);
      if (one === null && other === null) return null;
      return { facts: [...factsOf(one, first), ...factsOf(other, second)], understood: true };
    },

    async confirm(calls, passage, facts) {
      // An earlier release had the first teacher alone, and did not name it.
      const askedBy = ({ name }: Teacher): Fact[] => facts.filter(({ teacher = first.name }) => teacher === name);
      const one = await first.confirm(calls, passage, askedBy(first));
      // A small model also asks about what means nothing, and finds its answers there.
      if (one.length === 0) return [];
      const other = await second.confirm(calls, passage, askedBy(second));
      // A fact that both found is scored by the question that comes first, so it is one of the reader's own.
      return [...other, ...one];
    },

    reading: (passage, fact, question) => second.reading(passage, fact, question),

    ...(first.rephrase === undefined ? {} : { rephrase: first.rephrase.bind(first) }),
  };
}

/** Each is marked as the teacher's own, which is to confirm it. */
function factsOf(taught: TeachingOutcome | null, { name }: Teacher): Fact[] {
  return (taught?.facts ?? []).map((fact) => ({ ...fact, teacher: name }));
}
