import { setImmediate } from 'node:timers/promises';
import { normalise, type Chunk, type Told } from '@engraft/learning/parts';
import { rules } from '../rules.js';
import type { Candidate } from './candidate.js';
import { contradictedValues, withoutContradictions } from './contradictions.js';
import { SentenceReader } from './sentenceReader.js';
import { wholePassage } from './wholePassage.js';

export type { Candidate };

export interface Candidates {
  /**
   * Every span of every sentence, and every requested answer, unless the passage contradicts it. There are at most
   * `maxFactsPerAnswer` for one answer, the likeliest first.
   */
  readonly candidates: readonly Candidate[];
  /** Values that must not be taught. */
  readonly contradicted: readonly string[];
}

/**
 * Yields to other work after every sentence and every span, since a long passage takes seconds. It also looks for
 * `answers` wherever the passage has them, even if no pattern finds them.
 */
export async function findCandidates(
  passage: string,
  chunks: readonly Chunk[],
  answers: readonly string[] = [],
  told: ReadonlyMap<string, Told> = new Map(),
): Promise<Candidates> {
  const reader = new SentenceReader(await wholePassage(passage, chunks, told), answers);
  const all: Candidate[] = [];
  for (const [chunk, { sentences }] of chunks.entries()) {
    for (const sentence of sentences) {
      await setImmediate();
      all.push(...(await reader.read(chunk, sentence)));
    }
  }
  const contradicted = contradictedValues(all);
  return { candidates: withoutCrowds(bySalience(withoutContradictions(all, contradicted))), contradicted };
}

/** The likeliest few for each answer. */
function withoutCrowds(candidates: readonly Candidate[]): Candidate[] {
  const perAnswer = new Map<string, number>();
  return candidates.filter(({ span, tabled }) => {
    const key = normalise(span.text);
    const count = (perAnswer.get(key) ?? 0) + 1;
    perAnswer.set(key, count);
    return key !== '' && (tabled !== null || count <= (span.isSubject ? 1 : rules.maxFactsPerAnswer));
  });
}

function bySalience(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => b.salience - a.salience || a.span.start - b.span.start);
}

/** The candidates that somebody may ask for, and at least the likeliest few, likeliest first. */
export function worthTeaching(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ salience }, index) => salience >= rules.minSalience || index < rules.fewCandidates);
}

/** Chooses as many candidates as planned. Each chunk gets its share, the likeliest first. */
export function chooseCandidates(candidates: readonly Candidate[], count: number): Candidate[] {
  const chunks = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const ofChunk = chunks.get(candidate.chunk) ?? [];
    chunks.set(candidate.chunk, [...ofChunk, candidate]);
  }
  const total = Math.min(count, candidates.length);
  const chosen: Candidate[] = [];
  let passed = 0;
  for (const ofChunk of chunks.values()) {
    passed += ofChunk.length;
    const room = Math.floor((total * passed) / candidates.length) - chosen.length;
    chosen.push(...bySalience(ofChunk).slice(0, room));
  }
  // Sorted over all chunks again, since the last ones are not asked when money runs out.
  return bySalience(chosen);
}
