import type { Engine } from '@engraft/engine';
import type { LearningInput, LearningJournal, LearningOptions, LearningOutcome } from './types.js';

/** Passage → candidate adapter. Rejects with `EngineError` when the engine fails; every other outcome is a value. */
export function learnPassage(
  _engine: Engine,
  _input: LearningInput,
  _journal: LearningJournal,
  _options: LearningOptions = {},
): Promise<LearningOutcome> {
  throw new Error('not written yet');
}
