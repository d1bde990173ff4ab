import { isAdapterIntact, type AdapterReference, type Engine } from '@engraft/engine';
import type { z } from 'zod';
import { BaseMemory } from './baseMemory.js';
import { measurePassage } from './budget/passageSize.js';
import { planTeaching } from './budget/plan.js';
import { settleRecipe } from './budget/settleRecipe.js';
import { anySignal, MeteredCalls, throwIfCancelled } from './budget/calls.js';
import { evaluate, validationPairs } from './gate/evaluate.js';
import { isOnlyTrained, isTrusted } from './facts.js';
import { gateReport, nothingCompared, validationReport } from './gate/gate.js';
import { namedMisses, untaughtOf, whyNothing } from './gate/misses.js';
import { describeRejection } from './gate/rejection.js';
import { encodeMaterial, retentionPairs } from './training/material.js';
import { addUsage, Meter, noUsage, subtractUsage } from './budget/meter.js';
import {
  adapterFrom,
  adapterIn,
  evaluatingSchema,
  loadPhase,
  scoringSchema,
  teachingSchema,
  trainingSchema,
  type EvaluatingOutcome,
  type ScoringOutcome,
  type TeachingOutcome,
  type TrainedAdapter,
  type TrainingOutcome,
} from './outcomes.js';
import { questionsOf, rehearsalOf } from './rehearsal.js';
import type { Recipe } from './recipe/recipe.js';
import { saidSentences } from './text/chunk.js';
import { readPassage, type PlainPassage } from './text/plainText.js';
import { drawReplay } from './training/replay.js';
import { Snapshots } from './training/snapshots.js';
import { withoutAmbiguity } from './teaching/ambiguity.js';
import { splitFresh } from './teaching/fresh.js';
import { measureGain } from './teaching/gain.js';
import { askAboutPoorSentences } from './teaching/poorSentences.js';
import { chunkForTeacher } from './teaching/teacherChunks.js';
import type { TaughtPassage } from './teaching/teacher.js';
import { rehearsedByParent } from './training/parentReplies.js';
import { withSentenceAnswers } from './training/answeringSentences.js';
import { train } from './training/train.js';
import { mayQuote, traceOf } from './trace.js';
import type {
  LearningInput,
  LearningJournal,
  LearningOptions,
  LearningOutcome,
  LearningPhase,
  LearningUsage,
  ReplayRow,
} from './types.js';

/**
 * Learns a passage: returns a candidate adapter that passed the gate, or says why there is none.
 *
 * The teacher asks questions about the passage, and keeps those that it answers alike with the passage before it. An
 * adapter is trained to answer them without the passage (prompt distillation, arXiv:2412.14964), and is tested on
 * questions that were held out.
 *
 * Every phase's outcome is stored before the next phase begins. Called again with the same input and journal, learning
 * goes on after the last stored phase, and an interrupted training from its last snapshot. Rejects with `EngineError`
 * when the engine fails or the signal aborts, and with `RemoteModelError` when a remote teacher fails. Every other
 * outcome is a value.
 */
export async function learnPassage(
  engine: Engine,
  input: LearningInput,
  journal: LearningJournal,
  options: LearningOptions = {},
): Promise<LearningOutcome> {
  return new LearningRun(engine, (await engine.describe()).contextLength, input, journal, options).run();
}

class LearningRun {
  /** Usage of the phases done so far. */
  #usage: LearningUsage = noUsage;
  readonly #content: PlainPassage;
  readonly #baseMemory: BaseMemory;
  readonly #canaries: readonly ReplayRow[];
  readonly #replay: readonly ReplayRow[];
  readonly #signal: AbortSignal | undefined;
  readonly #snapshots: Snapshots;

  constructor(
    readonly engine: Engine,
    readonly contextLength: number,
    readonly input: LearningInput,
    readonly journal: LearningJournal,
    readonly options: LearningOptions,
  ) {
    const signals = [options.signal, options.stopping].filter((signal) => signal !== undefined);
    if (signals.length > 0) this.#signal = anySignal(...signals);
    this.#snapshots = new Snapshots(input.workFolder, journal.progress, options);
    this.#baseMemory = input.baseMemory ?? new BaseMemory(null);
    this.#content = readPassage(input.content);
    const drawn = drawReplay(input.replay, input.seed, input.recipe);
    this.#canaries = drawn.canaries;
    this.#replay = drawn.replay;
  }

  async run(): Promise<LearningOutcome> {
    const teaching = await this.#phase('teaching', teachingSchema, (meter) => this.#teach(meter));
    if (teaching === null) return { kind: 'budget_exhausted', usage: this.#usage };
    const recipe = await this.#settle(teaching);
    const scoring = await this.#phase('scoring', scoringSchema, (meter) => this.#score(meter, teaching, recipe));
    if (scoring === null) return { kind: 'budget_exhausted', usage: this.#usage };
    // No candidate can pass without enough held-out questions, so none is trained.
    if (validationPairs(scoring).length < recipe.split.minValidationPairs) {
      return this.#nothingLearned(teaching, scoring);
    }
    const before = this.#usage;
    const training = await this.#phase('training', trainingSchema, (meter) => this.#train(meter, scoring, recipe));
    if (training === null) return { kind: 'budget_exhausted', usage: this.#usage };
    const adapter = await this.#adapterOf(training, scoring, recipe, before);
    await this.#snapshots.end(adapter.folder);
    const evaluating = await this.#phase('evaluating', evaluatingSchema, (meter) =>
      this.#evaluate(meter, scoring, adapter, recipe),
    );
    if (evaluating === null) return { kind: 'budget_exhausted', usage: this.#usage };
    const gate = gateReport(evaluating, recipe);
    const validation = validationReport(evaluating, recipe);
    const trace = traceOf(training, scoring, evaluating, mayQuote(recipe, this.input.parent));
    const shared = { validation, gate, training: training.report, trace, usage: this.#usage };
    if (gate.reasons.length > 0) {
      const rejection = describeRejection({
        reasons: gate.reasons,
        counts: evaluating,
        recipe,
        ...namedMisses(evaluating.missed, scoring),
        untaught: untaughtOf(await this.#passage(), scoring),
      });
      return { kind: 'rejected', rejection, ...shared };
    }
    return { kind: 'accepted', adapter, rehearsal: rehearsalOf(scoring, recipe), ...shared };
  }

  async #nothingLearned(teaching: TeachingOutcome, scoring: ScoringOutcome): Promise<LearningOutcome> {
    const total = validationPairs(scoring).length;
    const counts = { ...nothingCompared, validation: { ...nothingCompared.validation, total } };
    const reasons = [whyNothing(teaching)];
    const rejection = describeRejection({
      reasons,
      counts,
      recipe: this.input.recipe,
      missed: [],
      missedCount: 0,
      untaught: untaughtOf(await this.#passage(), scoring),
    });
    const gate = { reasons, canaries: counts.canaries, drift: counts.drift };
    const validation = validationReport(nothingCompared, this.input.recipe);
    const training = { steps: 0, tokens: 0, final_loss: 0 };
    const trace = { loss: [], questions: [] };
    return { kind: 'rejected', rejection, validation, gate, training, trace, usage: this.#usage };
  }

  /** Returns the stored outcome of a phase, or runs it. `null` (no money for it) ends the job and is not stored. */
  async #phase<Outcome>(
    phase: LearningPhase,
    schema: z.ZodType<Outcome>,
    work: (meter: Meter) => Promise<Outcome | null>,
  ): Promise<Outcome | null> {
    const stored = await loadPhase(this.journal, phase, schema);
    if (stored !== null) {
      this.#usage = addUsage(this.#usage, stored.usage);
      return stored.outcome;
    }
    throwIfCancelled(this.#signal);
    await this.journal.entered(phase);
    const meter = new Meter(this.input.budget, this.#usage);
    const outcome = await work(meter);
    const usage = subtractUsage(meter.usage, this.#usage);
    this.#usage = meter.usage;
    if (outcome !== null) await this.journal.store(phase, { outcome, usage }, usage);
    return outcome;
  }

  async #teach(meter: Meter): Promise<TeachingOutcome | null> {
    const passage = await this.#passage();
    // A passage of headings or white space only, or a table without rows.
    if (passage.chunks.flatMap(saidSentences).length === 0) return { facts: [], understood: true };
    const { budget, earlier, recipe, seed, teacher } = this.input;
    const { factCount, extraReads } = await teacher.measure(passage);
    // A plan for nothing would look like a lack of money. The teacher says itself that it finds nothing.
    const teachingSize = { factCount: Math.max(1, factCount), extraReads };
    const size = await measurePassage(this.engine, passage.chunks, teachingSize, recipe, earlier.length);
    const plan = planTeaching(budget, size, recipe);
    if (plan === null) return null;
    const expectedCalls = plan.factCount * (1 + 1.5 * plan.formsPerFact) + passage.chunks.length;
    const calls = this.#calls(meter, 'teaching', Math.ceil(expectedCalls));
    return teacher.teach(calls, passage, plan, seed);
  }

  async #settle(teaching: TeachingOutcome): Promise<Recipe> {
    const { budget, earlier, recipe } = this.input;
    const taught = { ...(await this.#passage()), teaching, meter: new Meter(budget, this.#usage), earlier };
    return settleRecipe(this.engine, taught, recipe);
  }

  async #score(meter: Meter, { facts }: TeachingOutcome, recipe: Recipe): Promise<ScoringOutcome | null> {
    const { earlier, parent, seed, teacher } = this.input;
    const passage = await this.#passage();
    const questions = facts.flatMap(({ forms }) => forms.filter((form) => !isOnlyTrained(form)));
    const calls = this.#calls(meter, 'scoring', questions.length + 2 * facts.length);
    const confirmed = withoutAmbiguity(await teacher.confirm(calls, passage, facts));
    const taught = confirmed.filter(({ forms }) => forms.some(isTrusted));
    const scored = await measureGain(calls, passage, taught, parent, teacher, recipe);
    const { split, known } = splitFresh(scored, seed, recipe);
    const sentences = await askAboutPoorSentences(calls, passage, scored, teacher, seed, recipe);
    const rehearsal = split.length === 0 ? null : await rehearsedByParent(calls, parent, earlier, recipe);
    return {
      facts: split,
      known: known.flatMap(questionsOf),
      ...(sentences === null ? {} : { sentences }),
      ...(rehearsal === null ? {} : { rehearsal }),
    };
  }

  async #train(meter: Meter, scoring: ScoringOutcome, recipe: Recipe): Promise<TrainingOutcome | null> {
    const { earlier, isolationKey, parent, seed } = this.input;
    // Neither training nor the gate asks with the passage before a question.
    if (isolationKey !== undefined) await this.engine.forgetPrefixes(isolationKey);
    const toLearn = await withSentenceAnswers(this.engine, scoring, (await this.#passage()).chunks, recipe);
    const trained = await train({
      engine: this.engine,
      recipe,
      meter,
      baseMemory: this.#baseMemory,
      material: await encodeMaterial(this.engine, toLearn, scoring.rehearsal ?? earlier, this.#replay, recipe),
      parent,
      seed,
      snapshots: this.#snapshots,
      signal: this.#signal,
      isStopping: () => this.options.stopping?.aborted === true && this.options.signal?.aborted !== true,
      onStep: (done, total) => this.options.onProgress?.({ phase: 'training', done, total }),
    });
    return trained && { ...trained, adapter: adapterFrom(this.input.workFolder, trained.adapter) };
  }

  /**
   * Trains the adapter again if its files are gone. That counts in no usage; `before` is the usage of the phases
   * before.
   */
  async #adapterOf(
    training: TrainingOutcome,
    scoring: ScoringOutcome,
    recipe: Recipe,
    before: LearningUsage,
  ): Promise<TrainedAdapter> {
    const { workFolder, budget } = this.input;
    const adapter = adapterIn(workFolder, training);
    if (await isAdapterIntact(adapter)) return adapter;
    this.options.onNotice?.({ kind: 'adapter_lost' });
    throwIfCancelled(this.#signal);
    await this.journal.entered('training');
    const again = await this.#train(new Meter(budget, before), scoring, recipe);
    if (again === null) throw new Error('a training that was paid for once has no money now');
    // The same seed and material give the same adapter, which may already have been evaluated, and the same usage.
    const usage = subtractUsage(this.#usage, before);
    await this.journal.store('training', { outcome: again, usage }, noUsage);
    return adapterIn(workFolder, again);
  }

  async #evaluate(
    meter: Meter,
    scoring: ScoringOutcome,
    adapter: AdapterReference,
    recipe: Recipe,
  ): Promise<EvaluatingOutcome | null> {
    const { earlier, parent } = this.input;
    const heldOut = {
      validation: validationPairs(scoring),
      retention: retentionPairs(scoring, earlier, this.#replay, recipe),
      canaries: this.#canaries,
    };
    const calls = this.#calls(meter, 'evaluating', 2 * Object.values(heldOut).flat().length);
    const { chunks } = await this.#passage();
    const counts = await evaluate(calls, this.#baseMemory, adapter, parent, heldOut, chunks, recipe);
    return counts.validation.total === 0 ? null : counts;
  }

  #calls(meter: Meter, phase: LearningPhase, expectedCalls: number): MeteredCalls {
    let done = 0;
    const onCall = (requestCount: number): void => {
      done += requestCount;
      this.options.onProgress?.({ phase, done, total: Math.max(done, expectedCalls) });
    };
    const { isolationKey } = this.input;
    return new MeteredCalls(this.engine, meter, this.#signal, onCall, isolationKey, this.journal.remoteCalls);
  }

  async #passage(): Promise<TaughtPassage> {
    const chunks = await chunkForTeacher(this.engine, this.#content.text, this.contextLength, this.input.recipe);
    return { ...this.#content, chunks };
  }
}
