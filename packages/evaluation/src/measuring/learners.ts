import type { AdapterReference, Engine } from '@engraft/engine';
import { MeteredCalls } from '../metering/calls.js';
import { findCandidates, type Candidate } from '../questions/candidates.js';
import { questionKey, type Form, type FormOrigin } from '../facts.js';
import { learnPassage } from '../learnPassage.js';
import { encodeMaterial } from '../training/material.js';
import { Meter, noUsage } from '../metering/meter.js';
import { agrees, wordTokens } from '../text/normalise.js';
import { plainText } from '../text/plainText.js';
import { recipe } from '../recipe.js';
import { rephrasingsOf } from '../teaching/teach.js';
import { chunkForTeacher } from '../teaching/teacherChunks.js';
import type { ScoringOutcome, TrainingOutcome } from '../outcomes.js';
import { adapterIn, scoringSchema, trainingSchema } from '../outcomes.js';
import { drawReplay } from '../training/replay.js';
import { Snapshots } from '../training/snapshots.js';
import { train } from '../training/train.js';
import type {
  GateReport,
  LearningInput,
  LearningJournal,
  LearningOptions,
  LearningPhase,
  LearningUsage,
  Rehearsal,
  ValidationReport,
} from '../types.js';
import type { PassageEntry } from './passageSet.js';

/** What came of learning one passage. */
export interface Learned {
  /** `trained`: by `gold`, which has no gate. */
  readonly verdict: 'accepted' | 'rejected' | 'budget_exhausted' | 'trained';
  /** The candidate, also when the gate rejected it; `null` when it never came to training. */
  readonly adapter: AdapterReference | null;
  readonly rehearsal: Rehearsal | null;
  readonly validation: ValidationReport | null;
  readonly gate: GateReport | null;
  /** `questionKey` of every question that was trained or steered the training. */
  readonly trainedKeys: ReadonlySet<string>;
  /** Facts that were trained. */
  readonly factCount: number;
  readonly steps: number;
  readonly usage: LearningUsage;
  readonly phaseSeconds: Readonly<Partial<Record<LearningPhase, number>>>;
}

export type Learner = (
  engine: Engine,
  entry: PassageEntry,
  input: LearningInput,
  options: LearningOptions,
) => Promise<Learned>;

/** The pipeline as the service runs it. */
export const learnTaught: Learner = async (engine, entry, input, options) => {
  const journal = new TimingJournal();
  const outcome = await learnPassage(engine, { ...input, content: entry.passage }, journal, options);
  const { scoring, training } = journal;
  const trained = scoring?.facts.flatMap((fact) => [...fact.training, ...fact.dev]) ?? [];
  return {
    verdict: outcome.kind,
    adapter: training === null ? null : adapterIn(input.workFolder, training),
    rehearsal: outcome.kind === 'accepted' ? outcome.rehearsal : null,
    validation: outcome.kind === 'budget_exhausted' ? null : outcome.validation,
    gate: outcome.kind === 'budget_exhausted' ? null : outcome.gate,
    trainedKeys: new Set(trained.map(({ question }) => questionKey(question))),
    factCount: scoring?.facts.length ?? 0,
    steps: training?.report.steps ?? 0,
    usage: outcome.usage,
    phaseSeconds: journal.phaseSeconds,
  };
};

/**
 * The trainer by itself: the file's own pairs instead of the teacher's, the first phrasing of each question trained, with
 * rephrasings of it and the words of the sentence that holds the answer.
 */
export const learnGold: Learner = async (engine, { passage, questions }, input, options) => {
  const pairs = questions.map(({ phrasings, answers }) => ({
    question: phrasings[0] ?? '',
    answer: answers[0] ?? '',
  }));
  const meter = new Meter(input.budget);
  const startedAt = performance.now();
  const calls = new MeteredCalls(engine, meter, options.signal);
  const rephrased = await rephrasingsOf(calls, pairs, recipe.goldRephrasings, input.seed);
  const { contextLength } = await engine.describe();
  const content = plainText(passage);
  const chunks = await chunkForTeacher(engine, content, contextLength);
  const answers = pairs.map(({ answer }) => answer);
  const { candidates } = await findCandidates(content, chunks, answers);
  const formsOf = (texts: readonly string[], origin: FormOrigin): Form[] =>
    texts.map((question) => ({ question, origin }));
  const facts = pairs.map(({ question, answer }, index): ScoringOutcome['facts'][number] => ({
    answer,
    training: [
      ...formsOf([question], 'asked'),
      ...formsOf(rephrased[index] ?? [], 'rephrased'),
      ...formsOf(keywordsFor(candidates, question, answer), 'keywords'),
    ],
    dev: [],
    validation: [],
    softTargets: null,
  }));
  const { replay } = drawReplay(input.replay ?? [], input.seed);
  const trained = await train({
    engine,
    model: await engine.describe(),
    meter,
    material: await encodeMaterial(engine, { facts, known: [] }, input.earlier, replay),
    parent: input.parent,
    seed: input.seed,
    snapshots: new Snapshots(input.workFolder),
    signal: options.signal,
    isStopping: () => false,
    onStep: (done, total) => options.onProgress?.({ phase: 'training', done, total }),
  });
  return {
    verdict: trained === null ? 'budget_exhausted' : 'trained',
    adapter: trained?.adapter ?? null,
    rehearsal: trained === null ? null : { training_pairs: pairs, validation_pairs: [] },
    validation: null,
    gate: null,
    trainedKeys: new Set(facts.flatMap(({ training }) => training.map(({ question }) => questionKey(question)))),
    factCount: pairs.length,
    steps: trained?.report.steps ?? 0,
    usage: trained === null ? noUsage : meter.usage,
    phaseSeconds: { training: secondsSince(startedAt) },
  };
};

/** Of the sentences that hold the answer, the one that shares most words with the question. */
function keywordsFor(candidates: readonly Candidate[], question: string, answer: string): readonly string[] {
  const asked = new Set(wordTokens(question));
  const shared = ({ sentence }: Candidate): number =>
    wordTokens(sentence.text).filter((word) => asked.has(word)).length;
  const holding = candidates.filter(({ span }) => agrees(span.text, answer));
  return holding.sort((a, b) => shared(b) - shared(a))[0]?.keywords ?? [];
}

/** Keeps what the phases leave behind, and how long each took. */
class TimingJournal implements LearningJournal {
  scoring: ScoringOutcome | null = null;
  training: TrainingOutcome | null = null;
  readonly phaseSeconds: Partial<Record<LearningPhase, number>> = {};
  #enteredAt = 0;

  load(): Promise<null> {
    return Promise.resolve(null);
  }

  entered(): Promise<void> {
    this.#enteredAt = performance.now();
    return Promise.resolve();
  }

  store(phase: LearningPhase, stored: unknown): Promise<void> {
    this.phaseSeconds[phase] = secondsSince(this.#enteredAt);
    if (phase === 'scoring') this.scoring = scoringSchema.parse(outcomeOf(stored));
    if (phase === 'training') this.training = trainingSchema.parse(outcomeOf(stored));
    return Promise.resolve();
  }
}

/** A phase is stored as `{outcome, usage}`, see `PhaseResult`. */
function outcomeOf(stored: unknown): unknown {
  return typeof stored === 'object' && stored !== null && 'outcome' in stored ? stored.outcome : null;
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
