import { EngineError, loadFittingTokenizer, outlineCheckpoint, type ChatPrompt, type Engine } from '@engraft/engine';
import { recipeOf, type Recipe } from '@engraft/learning';
import type { Logger } from 'pino';
import { loadEngine, type EngineConfig, type LoadedEngine } from '../processes/model.js';
import { readLearningFiles, type LearningFiles } from '../processes/learningMethod.js';
import { secondsPerThousandCharacters } from './learningTime.js';
import { peakMemory } from './peakMemory.js';

/** What a model is, and what it takes on this machine. */
export interface ModelCheck {
  /** As in `config.json`. */
  readonly architecture: string;
  readonly parameters: number;
  /** In tokens, as it is offered. */
  readonly contextLength: number;
  readonly memory: {
    /** The most that answering took. */
    readonly servingBytes: number;
    /** What learning took besides. */
    readonly learningBytes: number;
    /** `false`: the system does not say what a process takes, so it follows from the weights. */
    readonly isMeasured: boolean;
  };
  readonly tokensPerSecond: { readonly training: number; readonly generation: number };
  readonly secondsPerThousandCharacters: number;
  /** What is wrong and does not keep it from being served. */
  readonly problems: readonly string[];
}

/** `failed`: it cannot be served, or not be trained; what is wrong first. */
export type CheckOutcome =
  | { readonly kind: 'checked'; readonly check: ModelCheck }
  | { readonly kind: 'failed'; readonly problems: readonly string[] };

/** Loads the model as the service would, renders its template, lets it answer, and trains a few steps. */
export async function checkModel(config: EngineConfig, logger: Logger): Promise<CheckOutcome> {
  try {
    const files = await readLearningFiles(config.model_folder);
    const problems = await templateProblems(config.model_folder);
    const loaded = await loadEngine(config, logger);
    try {
      return { kind: 'checked', check: await measure(config, loaded, files, problems) };
    } finally {
      await loaded.engine.close();
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { kind: 'failed', problems: [error.message] };
  }
}

const system = 'You are a helpful assistant.';
const question = 'Who built the lighthouse of Varn?';
const answer = 'Ada Kell built the lighthouse of Varn in 1874.';

async function templateProblems(modelDir: string): Promise<readonly string[]> {
  const tokenizer = await loadFittingTokenizer(modelDir);
  const rendered = tokenizer.render({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
      { role: 'user', content: 'And when?' },
    ],
  });
  return [question, answer, 'And when?']
    .filter((text) => !rendered.includes(text))
    .map((text) => `the chat template leaves out a message ("${text}")`);
}

async function measure(
  config: EngineConfig,
  { engine }: LoadedEngine,
  files: LearningFiles,
  templateProblems: readonly string[],
): Promise<ModelCheck> {
  const { architecture, parameters, contextLength } = await engine.describe();
  const recipe = recipeOf(files.preset, parameters);
  const problems = [...templateProblems];

  const alone = await writingSpeed(engine, 1);
  const together = await writingSpeed(engine, 8);
  if (alone.text.trim() === '') problems.push('it answered nothing to a plain question');
  const served = await peakOf([engine.pid]);

  const reading = await readingSpeed(engine);
  const training = await trainingSpeed(engine, recipe, () => peakOf(engine.trainingPids));
  if (!training.learns) problems.push('a step of training on one batch did not make the batch likelier');
  const afterwards = await peakOf([engine.pid]);

  const speeds = { reading, writing: together.tokensPerSecond, stepSeconds: training.stepSeconds };
  return {
    architecture,
    parameters,
    contextLength,
    memory: await memoryOf(config, served, afterwards, training.peak),
    tokensPerSecond: { training: training.tokensPerSecond, generation: alone.tokensPerSecond },
    secondsPerThousandCharacters: secondsPerThousandCharacters(files.preset.teacher, recipe, speeds),
    problems,
  };
}

/**
 * Learning trains in a process of its own, and scores in the one that serves. Where the system does not tell, serving
 * is about what the weights take, and learning that of their float32 twice.
 */
async function memoryOf(
  { model_folder, weights }: EngineConfig,
  served: number | null,
  afterwards: number | null,
  trained: number | null,
): Promise<ModelCheck['memory']> {
  if (served !== null && afterwards !== null && trained !== null) {
    return { servingBytes: served, learningBytes: afterwards - served + trained, isMeasured: true };
  }
  const { servingBytes, trainingBytes } = await outlineCheckpoint(model_folder, weights);
  return { servingBytes, learningBytes: 2 * trainingBytes, isMeasured: false };
}

async function peakOf(pids: readonly (number | undefined)[]): Promise<number | null> {
  let sum = 0;
  for (const pid of pids) {
    const bytes = pid === undefined ? null : await peakMemory(pid);
    if (bytes === null) return null;
    sum += bytes;
  }
  return pids.length === 0 ? null : sum;
}

/** A speed is measured over at least so long, as far as so many repetitions come. */
const enough_ms = 2000;
const repetitions_max = 8;

/** Repeats the work after a first time, which makes graphs; how much of it was done in a second. */
async function perSecond(work: () => Promise<number>): Promise<number> {
  await work();
  const startedAt = performance.now();
  let done = 0;
  for (let count = 0; count < repetitions_max; count += 1) {
    done += await work();
    if (performance.now() - startedAt >= enough_ms) break;
  }
  return done / ((performance.now() - startedAt) / 1000);
}

async function writingSpeed(
  engine: Engine,
  atOnce: number,
): Promise<{ readonly tokensPerSecond: number; readonly text: string }> {
  let text = '';
  const tokensPerSecond = await perSecond(async () => {
    const requests = Array.from({ length: atOnce }, (_, index) => request(`Write a story about ${index + 2} friends.`));
    const answers = await Promise.all(requests.map((each) => engine.generate(each)));
    text = answers[0]?.text ?? '';
    return answers.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  });
  return { tokensPerSecond, text };
}

function request(content: string): Parameters<Engine['generate']>[0] {
  const prompt: ChatPrompt = { messages: [{ role: 'user', content }], thinking: false };
  return { prompt, adapter: null, maxOutputTokens: 48, temperature: 0 };
}

/** A passage in the prompt and an answer, as the pipeline scores them. */
async function readingSpeed(engine: Engine): Promise<number> {
  const passage = `Answer from this passage.\n\n${`${answer} It is forty metres high. `.repeat(12)}`;
  const prompt: ChatPrompt = {
    messages: [{ role: 'user', content: `${passage}\n\n${question}` }],
    thinking: false,
  };
  const sequence = await engine.encode(prompt, answer);
  const sequences = Array.from({ length: 8 }, () => sequence);
  return perSecond(async () => {
    await engine.score({ sequences, adapter: null, topK: 0 });
    return sequences.length * sequence.tokens.length;
  });
}

interface TrainingSpeed {
  readonly tokensPerSecond: number;
  readonly stepSeconds: number;
  /** Whether the loss went down. */
  readonly learns: boolean;
  readonly peak: number | null;
}

/** Steps as the recipe makes them, on pairs as a passage gives them. */
async function trainingSpeed(
  engine: Engine,
  { training, replay }: Recipe,
  peak: () => Promise<number | null>,
): Promise<TrainingSpeed> {
  const rows = training.pairsPerBatch + replay.rowsPerBatch;
  const sequence = await engine.encode(
    { messages: [{ role: 'system', content: system }, { role: 'user', content: question }], thinking: false },
    answer,
  );
  const batch = Array.from({ length: rows }, () => ({ sequence, weight: 1 / rows }));
  const { rank, alpha, peakRate, weightDecay, betas, clipNorm } = training;
  const session = await engine.openTraining({ parent: null, rank, alpha, seed: 1, weightDecay, betas, clipNorm });
  try {
    const losses: number[] = [];
    let tokens = 0;
    const stepsPerSecond = await perSecond(async () => {
      const step = await session.step(batch, peakRate);
      losses.push(step.loss);
      tokens = step.tokens;
      return 1;
    });
    const learns = (losses.at(-1) ?? NaN) < (losses[0] ?? NaN);
    return {
      tokensPerSecond: tokens * stepsPerSecond,
      stepSeconds: 1 / stepsPerSecond,
      learns,
      peak: await peak(),
    };
  } finally {
    await session.close();
  }
}
