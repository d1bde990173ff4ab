import type { TaughtPassage } from '@engraft/learning';
import { findCandidates, worthTeaching, type Candidates } from './candidates.js';

export type LookUp = (passage: TaughtPassage) => Promise<Candidates>;

/**
 * Finds what is worth teaching of a passage. It does so once for all who ask with the same object, since a long passage
 * takes seconds.
 */
export function findOnce(): LookUp {
  const known = new WeakMap<TaughtPassage, Promise<Candidates>>();
  return (passage) => {
    const found = known.get(passage) ?? find(passage);
    known.set(passage, found);
    return found;
  };
}

async function find({ text, chunks, told }: TaughtPassage): Promise<Candidates> {
  const { candidates, contradicted } = await findCandidates(text, chunks, [], told);
  return { candidates: worthTeaching(candidates), contradicted };
}
