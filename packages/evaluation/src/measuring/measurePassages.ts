/**
 * Measures what learning is worth, passage by passage. It asks people's questions of base, of base with the passage
 * before it, and of the learned version without the passage.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdapterReference, Engine } from '@engraft/engine';
import { anySignal, costNanousd, questionKey } from '@engraft/learning/parts';
import { spreadSample } from '@engraft/learning';
import type { LearningBudget, LearningMethod, LearningPhase, Recipe, Rehearsal } from '@engraft/learning';
import { addTallies, ask, noTally, tally, type AskedPhrasing, type AskingOptions, type Tally } from './asking.js';
import { Canaries } from './canaries.js';
import { learnGold, learnTaught, secondsSince, type Learned } from './learners.js';
import type { PassageReport, Retention } from './passageReport.js';
import type { PassageEntry } from './passageSet.js';
import { readPassage } from './reading.js';

export type MeasuringPhase = 'base' | 'reading' | LearningPhase | 'asking' | 'canaries';

export interface MeasuringProgress {
  /** Index of the current passage, from 0. */
  readonly index: number;
  readonly count: number;
  readonly passageId: string;
  readonly phase: MeasuringPhase;
  readonly done: number;
  readonly total: number;
}

export interface MeasuringOptions {
  readonly budget: LearningBudget;
  readonly method: LearningMethod;
  readonly seed: number;
  /** Train the file's own pairs instead of what the teacher makes of the passage. */
  readonly gold: boolean;
  /** The number of passages that are learned one on top of the other. With 1, each is learned from base. */
  readonly chainLength: number;
  /**
   * Ask base without the passage, and with it. The answers depend on neither seed nor recipe, so one run of several is
   * enough.
   */
  readonly askBase: boolean;
  /**
   * Passages for reading canaries. What is learned must not answer them, so learned ones are left out. The default is
   * the measured passages.
   */
  readonly canaryPassages?: readonly PassageEntry[];
  /** Ask canaries of every adapter. The default is true. */
  readonly askCanaries?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: MeasuringProgress) => void;
  /** Called with each passage's report as soon as it is there. */
  readonly onReport?: (report: PassageReport) => void;
}

/** The passages of a chain before this one. */
interface ChainState {
  readonly parent: AdapterReference | null;
  readonly earlier: readonly Rehearsal[];
  readonly learned: readonly { readonly entry: PassageEntry; readonly before: Tally }[];
}

/** Questions of other passages that each adapter is asked. */
const maxElsewhere = 12;

const emptyChain: ChainState = { parent: null, earlier: [], learned: [] };

/** Rejects with `EngineError` when the engine fails or the signal aborts. */
export async function measurePassages(
  engine: Engine,
  passages: readonly PassageEntry[],
  options: MeasuringOptions,
): Promise<PassageReport[]> {
  const run = new MeasuringRun(engine, (await engine.describe()).contextLength, passages, options);
  const folder = await mkdtemp(join(tmpdir(), 'engraft-measuring-'));
  try {
    return await run.measureAll(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

class MeasuringRun {
  readonly #call: Pick<AskingOptions, 'signal'>;
  readonly #recipe: Recipe;
  readonly #asking: AskingOptions;

  constructor(
    readonly engine: Engine,
    readonly contextLength: number,
    readonly passages: readonly PassageEntry[],
    readonly options: MeasuringOptions,
  ) {
    this.#call = options.signal === undefined ? {} : { signal: anySignal(options.signal) };
    this.#recipe = options.method.recipe;
    this.#asking = { ...this.#call, maxAnswerTokens: this.#recipe.evaluating.maxAnswerTokens };
  }

  async measureAll(folder: string): Promise<PassageReport[]> {
    const { canaryPassages = this.passages, askCanaries } = this.options;
    const canaries =
      askCanaries === false ? null : await Canaries.open(this.engine, canaryPassages, this.#recipe.prompts, this.#call);
    const reports: PassageReport[] = [];
    let chain = emptyChain;
    for (const [index, entry] of this.passages.entries()) {
      if (index % this.options.chainLength === 0) chain = emptyChain;
      const workFolder = join(folder, String(index));
      const measured = await this.#measure(entry, index, chain, canaries, workFolder);
      reports.push(measured.report);
      this.options.onReport?.(measured.report);
      chain = measured.chain;
    }
    return reports;
  }

  async #measure(
    entry: PassageEntry,
    index: number,
    chain: ChainState,
    canaries: Canaries | null,
    workFolder: string,
  ): Promise<{ report: PassageReport; chain: ChainState }> {
    const enter = (phase: MeasuringPhase, done = 0, total = 1): void =>
      this.options.onProgress?.({ index, count: this.passages.length, passageId: entry.id, phase, done, total });
    const { askBase, gold, budget } = this.options;
    enter('base');
    const base = askBase ? await this.#closedBook(entry, null, entry.passage) : null;
    enter('reading');
    const reader = { ...this.#asking, contextLength: this.contextLength, recipe: this.#recipe };
    const { tallies, inChunks } = askBase
      ? await readPassage(this.engine, entry.passage, phrasingsOf(entry), reader)
      : { tallies: [], inChunks: false };
    const [reading = null, readingInstructed = null] = tallies;
    const startedAt = performance.now();
    const learned = await (gold ? learnGold : learnTaught)(
      this.engine,
      entry,
      {
        content: entry.passage,
        parent: chain.parent,
        earlier: chain.earlier,
        ...this.options.method,
        budget,
        seed: this.options.seed,
        // A key of its own, as a job has in the service, so that time and cost are those of a job.
        isolationKey: randomUUID(),
        workFolder,
      },
      { ...this.#call, onProgress: ({ phase, done, total }) => enter(phase, done, total) },
    );
    const seconds = secondsSince(startedAt);
    enter('asking');
    const { adapter } = learned;
    const known = (phrasing: AskedPhrasing): boolean => learned.trainedKeys.has(questionKey(phrasing.question));
    const allLearned = [...chain.learned.map((earlier) => earlier.entry), entry];
    const learnedText = allLearned.map(({ passage }) => passage).join('\n\n');
    const after = adapter === null ? null : await this.#answers(entry, adapter, learnedText);
    const next = this.#extend(chain, entry, learned, after?.all ?? null);
    const retention = await this.#retention(next, chain, learnedText);
    if (canaries !== null) enter('canaries');
    const learnedIds = new Set(allLearned.map(({ id }) => id));
    const report: PassageReport = {
      id: entry.id,
      kind: entry.kind,
      chars: entry.passage.length,
      verdict: learned.verdict,
      base,
      reading,
      reading_instructed: readingInstructed,
      learned: after?.all ?? null,
      trained: after?.of(known) ?? null,
      unseen: after?.of((phrasing) => !known(phrasing)) ?? null,
      elsewhere: adapter === null ? null : await this.#elsewhere(adapter, learnedIds, learnedText),
      read_in_chunks: inChunks,
      validation: learned.validation,
      gate: learned.gate,
      fact_count: learned.factCount,
      steps: learned.steps,
      canaries: adapter === null || canaries === null ? null : await canaries.check(adapter, learnedIds, this.#call),
      retention,
      seconds,
      phase_seconds: learned.phaseSeconds,
      cost_microusd: Math.ceil(costNanousd(learned.usage, budget) / 1000),
    };
    return { report, chain: next };
  }

  /** Goes on as the service would: on top of what was accepted, and nothing else. */
  #extend(chain: ChainState, entry: PassageEntry, learned: Learned, after: Tally | null): ChainState {
    if (learned.rehearsal === null || learned.adapter === null || after === null) return chain;
    return {
      parent: learned.adapter,
      earlier: [...chain.earlier, learned.rehearsal],
      learned: [...chain.learned, { entry, before: after }],
    };
  }

  async #retention(now: ChainState, { learned: earlier }: ChainState, learnedText: string): Promise<Retention | null> {
    const [first] = earlier;
    if (first === undefined || now.parent === null) return null;
    const after: Tally[] = [];
    for (const { entry } of earlier) after.push(await this.#closedBook(entry, now.parent, learnedText));
    return {
      first_id: first.entry.id,
      learned_count: now.learned.length,
      before: first.before,
      after: after[0] ?? noTally,
      all_before: addTallies(earlier.map(({ before }) => before)),
      all_after: addTallies(after),
    };
  }

  async #elsewhere(adapter: AdapterReference, learnedIds: ReadonlySet<string>, learnedText: string): Promise<Tally> {
    const { canaryPassages = this.passages } = this.options;
    const others = canaryPassages
      .filter(({ id }) => !learnedIds.has(id))
      .flatMap((other) => phrasingsOf(other).slice(0, 1));
    return this.#tallyOf(spreadSample(others, maxElsewhere), adapter, learnedText);
  }

  async #tallyOf(
    asked: readonly AskedPhrasing[],
    adapter: AdapterReference | null,
    learnedText: string,
  ): Promise<Tally> {
    const prompts = asked.map(({ question }) => this.#recipe.prompts.closedBook(question));
    return tally(asked, await ask(this.engine, prompts, adapter, this.#asking), learnedText);
  }

  async #closedBook(entry: PassageEntry, adapter: AdapterReference | null, learnedText: string): Promise<Tally> {
    return this.#tallyOf(phrasingsOf(entry), adapter, learnedText);
  }

  async #answers(
    entry: PassageEntry,
    adapter: AdapterReference | null,
    learnedText: string,
  ): Promise<{ all: Tally; of: (wanted: (phrasing: AskedPhrasing) => boolean) => Tally }> {
    const asked = phrasingsOf(entry);
    const prompts = asked.map(({ question }) => this.#recipe.prompts.closedBook(question));
    const given = await ask(this.engine, prompts, adapter, this.#asking);
    const of = (wanted: (phrasing: AskedPhrasing) => boolean): Tally => {
      const chosen = asked.flatMap((phrasing, index) => (wanted(phrasing) ? [{ phrasing, text: given[index] }] : []));
      return tally(
        chosen.map(({ phrasing }) => phrasing),
        chosen.map(({ text }) => text ?? ''),
        learnedText,
      );
    };
    return { all: tally(asked, given, learnedText), of };
  }
}

export function phrasingsOf({ questions }: PassageEntry): AskedPhrasing[] {
  return questions.flatMap(({ phrasings, answers }) => phrasings.map((question) => ({ question, answers })));
}
