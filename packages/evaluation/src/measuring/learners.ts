import type { AdapterReference, Engine } from '@engraft/engine';
import {
  BaseMemory,
  learnPassage,
  type GateReport,
  type LearningInput,
  type LearningJournal,
  type LearningOptions,
  type LearningPhase,
  type LearningUsage,
  type Rehearsal,
  type ValidationReport,
} from '@engraft/learning';
import {
  adapterIn,
  chunkForTeacher,
  drawReplay,
  encodeMaterial,
  Meter,
  MeteredCalls,
  noUsage,
  plainText,
  questionKey,
  scoringSchema,
  Snapshots,
  train,
  trainingSchema,
  type Form,
  type ScoringOutcome,
  type TrainingOutcome,
} from '@engraft/learning/parts';
import type { PassageEntry } from './passageSet.js';

/** The result of learning one passage. */
export interface Learned {
  /** `trained` comes from `gold`, which has no gate. */
  readonly verdict: 'accepted' | 'rejected' | 'budget_exhausted' | 'trained';
  /** The candidate, even if the gate rejected it. `null` if nothing was trained. */
  readonly adapter: AdapterReference | null;
  readonly rehearsal: Rehearsal | null;
  readonly validation: ValidationReport | null;
  readonly gate: GateReport | null;
  /** The `questionKey` of every question that was trained or steered the training. */
  readonly trainedKeys: ReadonlySet<string>;
  /** The number of trained facts. */
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

/** Learns like the service. */
export const learnTaught: Learner = async (engine, entry, input, options) => {
  const journal = new TimingJournal();
  const outcome = await learnPassage(engine, { ...input, content: entry.passage }, journal, options);
  const { scoring, training } = journal;
  const trained =
    scoring?.facts.flatMap((fact) => [...fact.training, ...fact.dev].map(({ question }) => question)) ?? [];
  const askedAbout = scoring?.sentences?.flatMap(({ questions }) => questions) ?? [];
  return {
    verdict: outcome.kind,
    adapter: training === null ? null : adapterIn(input.workFolder, training),
    rehearsal: outcome.kind === 'accepted' ? outcome.rehearsal : null,
    validation: outcome.kind === 'budget_exhausted' ? null : outcome.validation,
    gate: outcome.kind === 'budget_exhausted' ? null : outcome.gate,
    trainedKeys: new Set([...trained, ...askedAbout].map(questionKey)),
    factCount: scoring?.facts.length ?? 0,
    steps: training?.report.steps ?? 0,
    usage: outcome.usage,
    phaseSeconds: journal.phaseSeconds,
  };
};

/**
 * Measures the training by itself. The file's own pairs replace the teacher's. The first phrasing of each question is
 * trained, with whatever else the teacher would ask for its answer.
 */
export const learnGold: Learner = async (engine, { passage, questions }, input, options) => {
  const { recipe, seed, teacher } = input;
  const pairs = questions.map(({ phrasings, answers }) => ({
    question: phrasings[0] ?? '',
    answer: answers[0] ?? '',
  }));
  const meter = new Meter(input.budget);
  const startedAt = performance.now();
  const { contextLength } = await engine.describe();
  const text = plainText(passage);
  const chunks = await chunkForTeacher(engine, text, contextLength, recipe);
  const calls = new MeteredCalls(engine, meter, options.signal);
  const more = (await teacher.rephrase?.(calls, { text, chunks }, pairs, seed)) ?? [];
  const facts = pairs.map(({ question, answer }, index): ScoringOutcome['facts'][number] => ({
    answer,
    training: [goldForm(question), ...(more[index] ?? [])],
    dev: [],
    validation: [],
    softTargets: null,
  }));
  const { replay } = drawReplay(input.replay, seed, recipe);
  const trained = await train({
    engine,
    recipe,
    meter,
    baseMemory: input.baseMemory ?? new BaseMemory(null),
    material: await encodeMaterial(engine, { facts, known: [] }, input.earlier, replay, recipe),
    parent: input.parent,
    seed,
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

function goldForm(question: string): Form {
  return { question, origin: 'gold', standing: 'question', testRank: 0, plainRank: 0 };
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
