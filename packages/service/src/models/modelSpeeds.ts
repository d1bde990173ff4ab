/** How fast a model reads, writes and trains on this machine, on texts like those of learning. */
import type { AdapterReference, ChatPrompt, Engine, TrainingExample } from '@engraft/engine';
import type { Recipe } from '@engraft/learning';
import { otherRows, pairRows } from './sampleRows.js';
import { sampleAnswers, samplePassage, sampleQuestion } from './sampleTexts.js';

/** A speed is measured over at least `enoughMs`, but at most `maxRepetitions` times. */
export interface Effort {
  readonly enoughMs: number;
  readonly maxRepetitions: number;
  /** Length of a written answer. */
  readonly answerTokens: number;
  /** Sequences read at once. */
  readonly sequences: number;
}

export const thoroughly: Effort = { enoughMs: 2000, maxRepetitions: 8, answerTokens: 48, sequences: 8 };
/** Enough for an estimate. */
export const quickly: Effort = { enoughMs: 0, maxRepetitions: 1, answerTokens: 16, sequences: 2 };

const askedAtOnce = 8;

/** Repeats the work after a first run, which makes graphs. Returns how much of it was done per second. */
async function perSecond(work: () => Promise<number>, { enoughMs, maxRepetitions }: Effort): Promise<number> {
  await work();
  const startedAt = performance.now();
  let done = 0;
  for (let count = 0; count < maxRepetitions; count += 1) {
    done += await work();
    if (performance.now() - startedAt >= enoughMs) break;
  }
  return done / ((performance.now() - startedAt) / 1000);
}

/** Output tokens per second for one answer at a time, including the time for its prompt. */
export async function answeringSpeed(
  engine: Engine,
  effort: Effort,
): Promise<{ readonly tokensPerSecond: number; readonly text: string }> {
  let answered = '';
  const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Write a story about two friends.' }], thinking: false };
  const request = { prompt, adapter: null, maxOutputTokens: effort.answerTokens, temperature: 0 };
  const tokensPerSecond = await perSecond(async () => {
    const { text, usage } = await engine.generate(request);
    answered = text;
    return usage.outputTokens;
  }, effort);
  return { tokensPerSecond, text: answered };
}

/**
 * Output tokens per second for several lists of questions about a passage at once, as a teacher asks. The passage was
 * read before.
 */
export async function askingSpeed(
  engine: Engine,
  adapter: AdapterReference | null,
  { prompts }: Recipe,
  effort: Effort,
): Promise<number> {
  const request = { prompt: prompts.list(samplePassage), adapter, maxOutputTokens: effort.answerTokens };
  const sampling = { temperature: 1, isolationKey: 'speeds' };
  return perSecond(async () => {
    const lists = await Promise.all(
      Array.from({ length: askedAtOnce }, (_, seed) => engine.generate({ ...request, ...sampling, seed })),
    );
    return lists.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  }, effort);
}

/** Scores a passage in the prompt and an answer, as the pipeline does. */
export async function readingSpeed(
  engine: Engine,
  adapter: AdapterReference | null,
  { prompts }: Recipe,
  effort: Effort,
): Promise<number> {
  const sequence = await engine.encode(prompts.reading(samplePassage, sampleQuestion), sampleAnswers.values);
  const sequences = Array.from({ length: effort.sequences }, () => sequence);
  return perSecond(async () => {
    await engine.score({ sequences, adapter, topK: 0 });
    return sequences.length * sequence.tokens.length;
  }, effort);
}

export interface TrainingSpeed {
  /** Over all rows of a step. */
  readonly tokensPerSecond: number;
  /** Whether the loss went down. */
  readonly learns: boolean;
  readonly peak: number | null;
}

/**
 * Steps as in the recipe. The pairs come again in each step. The other rows are new, as most of a training's are, since
 * what the lower layers give for a row that was there before is kept.
 */
export async function trainingSpeed(
  engine: Engine,
  recipe: Recipe,
  peak: () => Promise<number | null>,
): Promise<TrainingSpeed> {
  const { training } = recipe;
  const batches: TrainingExample[][] = [];
  // The first step is for the graphs.
  while (batches.length <= thoroughly.maxRepetitions) {
    batches.push([...(await pairRows(engine, recipe)), ...(await otherRows(engine, recipe, batches.length))]);
  }
  const { rank, alpha, firstLayer, peakRate, weightDecay, betas, clipNorm } = training;
  const options = { parent: null, rank, alpha, firstLayer, seed: 1, weightDecay, betas, clipNorm };
  const session = await engine.openTraining(options);
  try {
    const losses: number[] = [];
    const tokensPerSecond = await perSecond(async () => {
      const { loss, tokens } = await session.step(batches[losses.length] ?? [], peakRate);
      losses.push(loss);
      return tokens;
    }, thoroughly);
    const learns = (losses.at(-1) ?? NaN) < (losses[0] ?? NaN);
    return { tokensPerSecond, learns, peak: await peak() };
  } finally {
    await session.close();
  }
}
